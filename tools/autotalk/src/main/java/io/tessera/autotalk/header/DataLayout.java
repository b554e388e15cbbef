package io.tessera.autotalk.header;

import java.util.ArrayList;
import java.util.List;

/**
 * Sizes, alignments and argument classes on x86-64 Linux (System V psABI 1.0, sections 3.1.2 and 3.2.3). Stateless.
 */
final class DataLayout {
    private static final int POINTER_BYTES = 8;
    private static final int ENUM_BYTES = 4;
    private static final int EIGHTBYTE = 8;
    /** A structure above this size is passed in memory. */
    private static final int REGISTER_STRUCT_BYTES = 16;

    private record Leaf(long offset, boolean floating) {
    }

    private DataLayout() {
    }

    static long size(CType type) {
        return switch (type.resolved()) {
            case CType.Basic basic -> basic.bytes();
            case CType.Enumeration ignored -> ENUM_BYTES;
            case CType.Pointer ignored -> POINTER_BYTES;
            case CType.Array array -> array.count() * size(array.of());
            case CType.Aggregate aggregate -> aggregateSize(aggregate);
            default -> throw new IllegalArgumentException("no size: " + type);
        };
    }

    static int alignment(CType type) {
        return switch (type.resolved()) {
            case CType.Array array -> alignment(array.of());
            case CType.Aggregate aggregate -> aggregate.members().stream().mapToInt(DataLayout::alignment).max().orElse(1);
            case CType other -> (int) Math.max(1, size(other));
        };
    }

    private static int alignment(CType.Variable member) {
        return Math.max(member.alignment(), alignment(member.type()));
    }

    private static long aggregateSize(CType.Aggregate aggregate) {
        long end = 0;
        for (CType.Variable member : aggregate.members()) {
            long size = size(member.type());
            end = aggregate.union() ? Math.max(end, size) : roundUp(end, alignment(member)) + size;
        }
        return roundUp(end, alignment(aggregate));
    }

    /** Returns the offset of a member that follows one with this end. */
    static long offset(long end, CType.Variable member) {
        return roundUp(end, alignment(member));
    }

    private static long roundUp(long bytes, int alignment) {
        return (bytes + alignment - 1) / alignment * alignment;
    }

    /**
     * Returns how a value of this type is passed: one letter for each eightbyte, {@code i} in a general register, {@code f} in
     * a vector register; {@code m} for a structure in memory.
     */
    static String argumentClass(CType type) {
        long size = size(type);
        if (size > REGISTER_STRUCT_BYTES) {
            return "m";
        }
        List<Leaf> leaves = new ArrayList<>();
        collect(type, 0, leaves);
        StringBuilder letters = new StringBuilder();
        for (long start = 0; start < size; start += EIGHTBYTE) {
            long from = start;
            letters.append(leaves.stream().filter(leaf -> leaf.offset() / EIGHTBYTE == from / EIGHTBYTE)
                    .allMatch(Leaf::floating) ? 'f' : 'i');
        }
        return letters.toString();
    }

    private static void collect(CType type, long offset, List<Leaf> leaves) {
        switch (type.resolved()) {
            case CType.Array array -> {
                for (long i = 0; i < array.count(); i++) {
                    collect(array.of(), offset + i * size(array.of()), leaves);
                }
            }
            case CType.Aggregate aggregate -> {
                long end = 0;
                for (CType.Variable member : aggregate.members()) {
                    long at = aggregate.union() ? 0 : roundUp(end, alignment(member));
                    collect(member.type(), offset + at, leaves);
                    end = at + size(member.type());
                }
            }
            case CType.Basic basic -> leaves.add(new Leaf(offset, basic.floating()));
            default -> leaves.add(new Leaf(offset, false));
        }
    }
}
