package io.tessera.executor.fence;

import io.tessera.executor.window.WindowAccess;
import io.tessera.guardian.machine.HardwareTensorMap;
import io.tessera.guardian.machine.TensorMapPlaces;
import java.lang.foreign.MemorySegment;

/**
 * The tensor maps among the parameters of a kernel with fences in its machine code. The target of such a map is only known at a launch. A map may come from
 * anywhere; libraries fill in their own. Immutable; {@link #lead} may be called by any thread.
 */
final class MachineMaps {
    /** Target of a launch's maps. */
    enum Reach {
        /** All maps stay in the tenant's window. */
        WINDOW,
        /** A map leaves the window, or is not understood. */
        ELSEWHERE
    }

    private static final MemorySegment ZERO = MemorySegment.ofArray(new byte[HardwareTensorMap.BYTES]).asReadOnly();
    private final int[] single;
    private final int[] many;

    MachineMaps(TensorMapPlaces places) {
        this.single = places.single().stream().mapToInt(Integer::intValue).sorted().toArray();
        this.many = places.many().stream().mapToInt(Integer::intValue).sorted().toArray();
    }

    /**
     * Checks a launch's maps. Libraries leave a map that a kernel does not use in this launch at zero, which reaches nothing, or without an address. The
     * latter gets an address in the window, so that it does no harm if it is used after all.
     *
     * @param parameters the executor's own copy, as the driver gets them
     * @param bytes      their length
     */
    Reach lead(WindowAccess window, MemorySegment parameters, long bytes) {
        if (single.length + many.length == 0) {
            return Reach.WINDOW; // most kernels; a launch must not allocate
        }
        if (!isIn(single, bytes) || !isIn(many, bytes)) {
            return Reach.ELSEWHERE;
        }
        // Maps may overlap, so all of them are checked after the last one was changed.
        boolean all = walk(window, parameters, bytes, true) && walk(window, parameters, bytes, false);
        return all ? Reach.WINDOW : Reach.ELSEWHERE;
    }

    private static boolean isIn(int[] places, long bytes) {
        for (int at : places) {
            if (at < 0 || at + (long) HardwareTensorMap.BYTES > bytes) {
                return false;
            }
        }
        return true;
    }

    /** Visits all maps. Moves those without an address into the window, or checks where they lead. */
    private boolean walk(WindowAccess window, MemorySegment parameters, long bytes, boolean moves) {
        boolean stay = true;
        for (int at : single) {
            stay &= visit(window, parameters, at, moves);
        }
        for (int first : many) {
            stay &= visit(window, parameters, first, moves);
            for (long at = first + (long) HardwareTensorMap.BYTES; isMap(parameters, at, bytes); at += HardwareTensorMap.BYTES) {
                stay &= visit(window, parameters, at, moves);
            }
        }
        return stay;
    }

    private static boolean visit(WindowAccess window, MemorySegment parameters, long at, boolean moves) {
        if (moves) {
            beginInWindow(window, parameters, at);
            return true;
        }
        return stays(window, parameters, at);
    }

    /** Returns whether something follows that may be one of several maps. */
    private static boolean isMap(MemorySegment parameters, long at, long bytes) {
        return at + HardwareTensorMap.BYTES <= bytes
                && (isZero(parameters, at) || HardwareTensorMap.reach(parameters, at) != HardwareTensorMap.UNKNOWN);
    }

    private static boolean isZero(MemorySegment parameters, long at) {
        return MemorySegment.mismatch(parameters, at, at + HardwareTensorMap.BYTES, ZERO, 0, HardwareTensorMap.BYTES) < 0;
    }

    private static void beginInWindow(WindowAccess window, MemorySegment parameters, long at) {
        if (HardwareTensorMap.address(parameters, at) == 0 && !isZero(parameters, at)) {
            long reach = HardwareTensorMap.reach(parameters, at);
            if (reach != HardwareTensorMap.UNKNOWN && reach <= window.sizeBytes()) {
                HardwareTensorMap.setAddress(parameters, at, window.baseAddress());
            }
        }
    }

    private static boolean stays(WindowAccess window, MemorySegment parameters, long at) {
        if (isZero(parameters, at)) {
            return true;
        }
        long reach = HardwareTensorMap.reach(parameters, at);
        return reach != HardwareTensorMap.UNKNOWN && window.contains(HardwareTensorMap.address(parameters, at), reach);
    }
}
