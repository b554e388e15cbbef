package io.tessera.bench.memory;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;

/**
 * PyTorch's caching allocator, as far as the driver sees it: which segments it allocates and when it frees them. The
 * rules and their constants are those of c10/cuda/CUDACachingAllocator.cpp (PyTorch 2.x, one stream, default settings):
 * tensors are rounded to 512 bytes; those up to 1 MiB come from segments of 2 MiB, those below 10 MiB from segments of 20
 * MiB, larger ones get their own, rounded to 2 MiB; best fit among what is cached; a block is split if more than 512
 * bytes, or 1 MiB among the large ones, remain; a segment that is free as a whole goes back when memory runs out or the
 * cache is emptied.
 */
final class SegmentCache implements TensorMemory {
    private static final long MIB = 1L << 20;
    private static final long MIN_BLOCK = 512;
    private static final long SMALL = MIB;
    private static final long SMALL_SEGMENT = 2 * MIB;
    private static final long MIDDLE_BELOW = 10 * MIB;
    private static final long MIDDLE_SEGMENT = 20 * MIB;
    private static final long LARGE_ROUNDING = 2 * MIB;

    private static final class Block {
        final int segment;
        final long offset;
        final boolean small;
        long bytes;
        Block below;
        Block above;
        boolean used;

        Block(int segment, long offset, long bytes, boolean small) {
            this.segment = segment;
            this.offset = offset;
            this.bytes = bytes;
            this.small = small;
        }

        boolean isWhole() {
            return below == null && above == null;
        }
    }

    private static final Comparator<Block> BY_SIZE = Comparator.<Block>comparingLong(b -> b.bytes)
            .thenComparingInt(b -> b.segment).thenComparingLong(b -> b.offset);

    private final MemoryTrace trace;
    private final long capacityBytes;
    private final TreeSet<Block> small = new TreeSet<>(BY_SIZE);
    private final TreeSet<Block> large = new TreeSet<>(BY_SIZE);
    private final List<Block> tensors = new ArrayList<>();
    private final List<Integer> unused = new ArrayList<>();
    private long segmentBytes;

    /** @param capacityBytes what the device has: beyond it the cache gives back before it allocates */
    SegmentCache(MemoryTrace trace, long capacityBytes) {
        this.trace = trace;
        this.capacityBytes = capacityBytes;
    }

    @Override
    public int allocate(long bytes) {
        long rounded = (bytes + MIN_BLOCK - 1) / MIN_BLOCK * MIN_BLOCK;
        TreeSet<Block> pool = rounded <= SMALL ? small : large;
        Block block = pool.ceiling(new Block(-1, 0, rounded, true));
        if (block == null) {
            block = newSegment(rounded);
        } else {
            pool.remove(block);
        }
        long rest = block.bytes - rounded;
        if (block.small ? rest >= MIN_BLOCK : rest > SMALL) {
            Block upper = new Block(block.segment, block.offset + rounded, rest, block.small);
            upper.below = block;
            upper.above = block.above;
            if (block.above != null) {
                block.above.below = upper;
            }
            block.above = upper;
            block.bytes = rounded;
            pool.add(upper);
        }
        block.used = true;
        int tensor = unused.isEmpty() ? tensors.size() : unused.removeLast();
        if (tensor == tensors.size()) {
            tensors.add(block);
        } else {
            tensors.set(tensor, block);
        }
        return tensor;
    }

    private Block newSegment(long rounded) {
        long bytes = rounded <= SMALL ? SMALL_SEGMENT : rounded < MIDDLE_BELOW ? MIDDLE_SEGMENT
                : (rounded + LARGE_ROUNDING - 1) / LARGE_ROUNDING * LARGE_ROUNDING;
        if (segmentBytes + bytes > capacityBytes) {
            emptyCache();
        }
        segmentBytes += bytes;
        return new Block(trace.begin(MemoryTrace.Kind.ALLOCATE, bytes), 0, bytes, rounded <= SMALL);
    }

    @Override
    public void free(int tensor) {
        Block block = tensors.get(tensor);
        unused.add(tensor);
        TreeSet<Block> pool = block.small ? small : large;
        block.used = false;
        Block upper = block.above;
        if (upper != null && !upper.used) {
            pool.remove(upper);
            join(block, upper);
        }
        Block lower = block.below;
        if (lower != null && !lower.used) {
            pool.remove(lower);
            join(lower, block);
            block = lower;
        }
        pool.add(block);
    }

    private static void join(Block lower, Block upper) {
        lower.bytes += upper.bytes;
        lower.above = upper.above;
        if (upper.above != null) {
            upper.above.below = lower;
        }
    }

    @Override
    public void emptyCache() {
        for (TreeSet<Block> pool : List.of(small, large)) {
            pool.removeIf(block -> {
                if (block.isWhole()) {
                    trace.end(MemoryTrace.Kind.FREE, block.segment);
                    segmentBytes -= block.bytes;
                }
                return block.isWhole();
            });
        }
    }
}
