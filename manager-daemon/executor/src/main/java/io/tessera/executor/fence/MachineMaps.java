package io.tessera.executor.fence;

import io.tessera.executor.window.WindowAccess;
import io.tessera.guardian.machine.HardwareTensorMap;
import io.tessera.guardian.machine.verify.TensorMapPlaces;
import java.lang.foreign.MemorySegment;

/**
 * The tensor maps among the parameters of a kernel that has a fence in its machine code: where such a map leads, only its launch can tell. Who made the map does not matter;
 * libraries fill in their own. Immutable; {@link #lead} may be called by any thread.
 */
final class MachineMaps {
    /** What a launch's maps do. */
    enum Reach {
        /** All of them stay in the tenant's window. */
        WINDOW,
        /** One of them leads elsewhere, or is not understood. */
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
     * Looks at a launch's maps. Libraries leave a map that a kernel does not use this time at zero, which reaches nothing, or without an address. The latter is made to begin in
     * the window, so that it does no harm if it is used after all.
     *
     * @param parameters the executor's own copy, as the driver gets them
     * @param bytes      their length
     */
    Reach lead(WindowAccess window, MemorySegment parameters, long bytes) {
        for (int at : single) {
            if (!stays(window, parameters, at, bytes)) {
                return Reach.ELSEWHERE;
            }
        }
        for (int first : many) {
            if (!stays(window, parameters, first, bytes)) {
                return Reach.ELSEWHERE;
            }
            for (long at = first + (long) HardwareTensorMap.BYTES; isMap(parameters, at, bytes); at += HardwareTensorMap.BYTES) {
                if (!stays(window, parameters, at, bytes)) {
                    return Reach.ELSEWHERE;
                }
            }
        }
        return Reach.WINDOW;
    }

    /** Whether something follows that may be one of several maps. */
    private static boolean isMap(MemorySegment parameters, long at, long bytes) {
        return at + HardwareTensorMap.BYTES <= bytes
                && (isZero(parameters, at) || HardwareTensorMap.reach(parameters, at) != HardwareTensorMap.UNKNOWN);
    }

    private static boolean isZero(MemorySegment parameters, long at) {
        return MemorySegment.mismatch(parameters, at, at + HardwareTensorMap.BYTES, ZERO, 0, HardwareTensorMap.BYTES) < 0;
    }

    private static boolean stays(WindowAccess window, MemorySegment parameters, long at, long bytes) {
        if (at < 0 || at + HardwareTensorMap.BYTES > bytes) {
            return false;
        }
        if (isZero(parameters, at)) {
            return true;
        }
        long reach = HardwareTensorMap.reach(parameters, at);
        if (reach == HardwareTensorMap.UNKNOWN) {
            return false;
        }
        if (HardwareTensorMap.address(parameters, at) == 0 && reach <= window.sizeBytes()) {
            HardwareTensorMap.setAddress(parameters, at, window.baseAddress());
            return true;
        }
        return window.contains(HardwareTensorMap.address(parameters, at), reach);
    }
}
