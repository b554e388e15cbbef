package io.tessera.bench.memory;

import java.util.Arrays;

/**
 * A program's calls of the driver's memory functions, in order: allocations and frees, address ranges without memory, and memory that the
 * program creates itself. Blocks are small numbers that are reused after a free. Not thread-safe.
 */
public final class MemoryTrace {
    /** Kind of an operation. */
    public enum Kind {
        /** An allocation: its block and bytes. */
        ALLOCATE,
        /** Ends a block. */
        FREE,
        /** Addresses without memory: their block and bytes. */
        RESERVE,
        /** Ends a block of addresses. */
        RELEASE,
        /** Memory that the program creates itself: its block and bytes. */
        CREATE,
        /** Ends such memory. */
        DESTROY;

        /** Returns the kind that ends what this one creates. */
        Kind end() {
            return switch (this) {
                case ALLOCATE -> FREE;
                case RESERVE -> RELEASE;
                case CREATE -> DESTROY;
                case FREE, RELEASE, DESTROY -> throw new IllegalStateException(this + " makes nothing");
            };
        }

        boolean makes() {
            return this == ALLOCATE || this == RESERVE || this == CREATE;
        }
    }

    private static final Kind[] KINDS = Kind.values();

    private byte[] kinds = new byte[1024];
    private int[] blocks = new int[1024];
    private long[] sizes = new long[1024];
    private int length;

    private int[] unused = new int[1024];
    private int unusedCount;
    private int blockCount;

    private void add(Kind kind, int block, long bytes) {
        if (length == kinds.length) {
            int more = length + length / 2;
            kinds = Arrays.copyOf(kinds, more);
            blocks = Arrays.copyOf(blocks, more);
            sizes = Arrays.copyOf(sizes, more);
        }
        kinds[length] = (byte) kind.ordinal();
        blocks[length] = block;
        sizes[length++] = bytes;
    }

    /**
     * Adds an operation that creates a block.
     *
     * @param bytes above 0
     * @return the block's number, for {@link #end}
     */
    public int begin(Kind kind, long bytes) {
        if (bytes <= 0) {
            throw new IllegalArgumentException("a block of " + bytes + " bytes");
        }
        int block = unusedCount > 0 ? unused[--unusedCount] : blockCount++;
        add(kind, block, bytes);
        return block;
    }

    /** Adds the operation that ends a block. */
    public void end(Kind kind, int block) {
        add(kind, block, 0);
        if (unusedCount == unused.length) {
            unused = Arrays.copyOf(unused, 2 * unusedCount);
        }
        unused[unusedCount++] = block;
    }

    /** Ends all live blocks in the order of their creation, as a program's end does. */
    public void endAll() {
        int[] made = new int[blockCount];
        Arrays.fill(made, -1);
        for (int i = 0; i < length; i++) {
            made[blocks[i]] = kind(i).makes() ? i : -1;
        }
        for (int at : Arrays.stream(made).filter(at -> at >= 0).sorted().toArray()) {
            end(kind(at).end(), blocks[at]);
        }
    }

    /** Returns the number of operations so far. */
    public int length() {
        return length;
    }

    /** Returns a number that is above those of all blocks. */
    public int blockCount() {
        return blockCount;
    }

    Kind kind(int at) {
        return KINDS[kinds[at]];
    }

    int block(int at) {
        return blocks[at];
    }

    /** Returns the bytes of the block that the operation creates; 0 if it ends one. */
    long bytes(int at) {
        return sizes[at];
    }

    /** Returns the largest sum of memory allocated and created at one time, which is the minimum for any allocator. */
    public long peakBytes() {
        long[] held = new long[blockCount];
        long live = 0;
        long peak = 0;
        for (int i = 0; i < length; i++) {
            switch (kind(i)) {
                case ALLOCATE, CREATE -> {
                    held[blocks[i]] = sizes[i];
                    live += sizes[i];
                    peak = Math.max(peak, live);
                }
                case FREE, DESTROY -> live -= held[blocks[i]];
                case RESERVE, RELEASE -> {
                    // no memory
                }
            }
        }
        return peak;
    }
}
