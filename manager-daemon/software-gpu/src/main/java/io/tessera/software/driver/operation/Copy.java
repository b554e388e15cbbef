package io.tessera.software.driver.operation;

import io.tessera.software.driver.abi.HostMemory;
import io.tessera.software.driver.memory.Extent3;
import io.tessera.software.driver.memory.PitchedPlace;
import io.tessera.software.driver.work.Operation;

/**
 * Copies a box of bytes.
 *
 * @param source      where from
 * @param target      where to
 * @param box         how much
 * @param description CUDA_MEMCPY3D as the program or the driver wrote it, for queries of a graph's node; not changed
 */
public record Copy(PitchedPlace source, PitchedPlace target, Extent3 box, byte[] description) implements Operation {
    /** Below this a copy takes less than waking another thread does. */
    private static final long SMALL_BYTES = 64 << 10;

    @Override
    public Place place() {
        return box.bytes() <= SMALL_BYTES ? Place.HERE : Place.WORKER;
    }

    @Override
    public boolean run(Run task) {
        if (box.empty()) {
            return true;
        }
        if (dense(source) && dense(target)) {
            HostMemory.copy(source.address(), target.address(), box.bytes());
            return true;
        }
        for (long z = 0; z < box.depth(); z++) {
            long from = source.address() + z * source.sliceBytes();
            long to = target.address() + z * target.sliceBytes();
            for (long y = 0; y < box.height(); y++) {
                HostMemory.copy(from + y * source.pitchBytes(), to + y * target.pitchBytes(), box.widthBytes());
            }
        }
        return true;
    }

    private boolean dense(PitchedPlace place) {
        return place.dense(box);
    }
}
