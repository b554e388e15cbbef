package io.tessera.guardian.fence;

import io.tessera.guardian.ptx.Operand;
import java.util.ArrayList;
import java.util.List;

/**
 * For which launches a kernel's second body is written: {@link TwoBodies} compares, and runs the body that the kernel had for all
 * others. Everything that is compared is the same for all threads of a grid. Immutable.
 *
 * @param block  threads of a block, at most; null: any
 * @param limits of the grid and of parameters
 */
record BodyLimits(BlockSize block, List<Limit> limits) {
    /**
     * Threads of a block, at most.
     *
     * @param x in the first dimension
     * @param y in the second; 0: any
     */
    record BlockSize(int x, int y) {
        @Override
        public String toString() {
            return y == 0 ? Integer.toString(x) : x + " x " + y;
        }
    }

    /**
     * A value, at most, as an unsigned number.
     *
     * @param source a special register, or a place in a parameter
     * @param bits   32 or 64
     * @param most   the greatest that it may be
     */
    record Limit(Operand source, int bits, long most) {
        @Override
        public String toString() {
            return switch (source) {
                case Operand.SpecialRegister(String name, String component) -> name + "." + component;
                case Operand.Address(Operand.Named(String name), long offset) -> offset == 0 ? name : name + "+" + offset;
                default -> source.toString();
            } + " up to " + most;
        }
    }

    /** Copies the list. */
    BodyLimits {
        limits = List.copyOf(limits);
    }

    /** Whether there is nothing to compare. */
    boolean isEmpty() {
        return block == null && limits.isEmpty();
    }

    /** The limits with those of the block's size. */
    List<Limit> all() {
        List<Limit> all = new ArrayList<>();
        if (block != null) {
            all.add(threads("x", block.x()));
            if (block.y() > 0) {
                all.add(threads("y", block.y()));
            }
        }
        all.addAll(limits);
        return all;
    }

    private static Limit threads(String dimension, int most) {
        return new Limit(new Operand.SpecialRegister("%ntid", dimension), Integer.SIZE, most);
    }

    @Override
    public String toString() {
        List<String> parts = new ArrayList<>();
        if (block != null) {
            parts.add("blocks of at most " + block + " threads");
        }
        limits.forEach(limit -> parts.add(limit.toString()));
        return String.join(", ", parts);
    }
}
