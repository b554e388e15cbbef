package io.tessera.bench.memory;

import io.tessera.guardian.heap.WindowHeap;

/** A program whose operations go to a window's heap: the trace, and where its blocks are. Not thread-safe. */
final class HeapProgram {
    /** The granule of NVIDIA GPUs. */
    static final long GRANULE_BYTES = 2L << 20;
    private final MemoryTrace trace;
    private final WindowHeap heap;
    private final long[] offsets;

    /** @param heap the window's heap, which other programs of the tenant may use, too */
    HeapProgram(MemoryTrace trace, WindowHeap heap) {
        this.trace = trace;
        this.heap = heap;
        this.offsets = new long[trace.blockCount()];
    }

    /**
     * Does one operation; the earlier ones must have been done in order. Returns a negative number if it was refused, and for DESTROY the
     * bytes freed.
     */
    long step(int at) {
        int block = trace.block(at);
        long bytes = trace.bytes(at);
        return switch (trace.kind(at)) {
            case ALLOCATE -> offsets[block] = heap.allocate(bytes);
            case FREE -> heap.free(offsets[block]);
            case RESERVE -> offsets[block] = heap.reserve(bytes, GRANULE_BYTES, WindowHeap.ANYWHERE);
            case RELEASE -> heap.release(offsets[block]);
            case CREATE -> {
                offsets[block] = bytes;
                yield heap.charge(bytes);
            }
            case DESTROY -> {
                heap.discharge(offsets[block]);
                yield offsets[block];
            }
        };
    }
}
