package io.tessera.software.arithmetic;

/**
 * Packed pairs: the element's operation on the low and on the high 16 bits of an {@code int}. The function objects should be constants at the call, so that the
 * JIT compiler can inline them.
 */
public final class PackedArithmetic {
    private PackedArithmetic() {
    }

    /** An operation on one element. */
    @FunctionalInterface
    public interface Unary {
        /** Returns the result for an element in the low 16 bits. */
        int apply(int a);
    }

    /** An operation on two elements. */
    @FunctionalInterface
    public interface Binary {
        /** Returns the result for elements in the low 16 bits. */
        int apply(int a, int b);
    }

    /** An operation on three elements. */
    @FunctionalInterface
    public interface Ternary {
        /** Returns the result for elements in the low 16 bits. */
        int apply(int a, int b, int c);
    }

    /** Both halves in one word. */
    public static int pack(int low, int high) {
        return low & 0xffff | high << 16;
    }

    /** Returns the operation on both halves. */
    public static int map(Unary operation, int a) {
        return pack(operation.apply(a & 0xffff), operation.apply(a >>> 16));
    }

    /** Returns the operation on both pairs of halves. */
    public static int map(Binary operation, int a, int b) {
        return pack(operation.apply(a & 0xffff, b & 0xffff), operation.apply(a >>> 16, b >>> 16));
    }

    /** Returns the operation on both triples of halves. */
    public static int map(Ternary operation, int a, int b, int c) {
        return pack(operation.apply(a & 0xffff, b & 0xffff, c & 0xffff),
                operation.apply(a >>> 16, b >>> 16, c >>> 16));
    }
}
