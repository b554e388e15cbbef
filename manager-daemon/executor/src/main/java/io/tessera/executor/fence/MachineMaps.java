package io.tessera.executor.fence;

import io.tessera.executor.window.WindowAccess;
import io.tessera.guardian.machine.HardwareTensorMap;
import io.tessera.guardian.machine.verify.TensorMapPlaces;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.stream.LongStream;

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
        places(parameters, bytes).forEach(at -> beginInWindow(window, parameters, at));
        // Maps may overlap, so that each is looked at when nothing is changed any more.
        return isIn(single, bytes) && isIn(many, bytes) && places(parameters, bytes).allMatch(at -> stays(window, parameters, at)) ? Reach.WINDOW
                : Reach.ELSEWHERE;
    }

    private static boolean isIn(int[] places, long bytes) {
        return Arrays.stream(places).allMatch(at -> at >= 0 && at + (long) HardwareTensorMap.BYTES <= bytes);
    }

    /** Where maps lie, as far as they lie in the parameters. */
    private LongStream places(MemorySegment parameters, long bytes) {
        LongStream several = Arrays.stream(many).asLongStream()
                .flatMap(first -> LongStream.iterate(first, at -> at == first || isMap(parameters, at, bytes), at -> at + HardwareTensorMap.BYTES));
        return LongStream.concat(Arrays.stream(single).asLongStream(), several)
                .filter(at -> at >= 0 && at + HardwareTensorMap.BYTES <= bytes);
    }

    /** Whether something follows that may be one of several maps. */
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
