package io.tessera.software.arithmetic;

/** {@code prmt.b32} in all its modes: bytes 0 to 3 are those of a, 4 to 7 those of b. */
public final class Permutation {
    private Permutation() {
    }

    /** Returns the byte of (b:a) that a selector nibble names, or its sign in all bits if bit 3 is set. */
    private static int select(long pair, int nibble) {
        int value = (int) (pair >>> (nibble & 7) * 8) & 0xff;
        return (nibble & 8) == 0 ? value : (byte) value >> 7 & 0xff;
    }

    private static long pair(int a, int b) {
        return a & 0xffffffffL | (long) b << 32;
    }

    private static int bytes(int a, int b, int first, int second, int third, int fourth) {
        long pair = pair(a, b);
        return select(pair, first) | select(pair, second) << 8 | select(pair, third) << 16
                | select(pair, fourth) << 24;
    }

    /** Returns the default mode: four selectors in the low 16 bits. */
    public static int index(int a, int b, int selector) {
        return bytes(a, b, selector & 15, selector >>> 4 & 15, selector >>> 8 & 15, selector >>> 12 & 15);
    }

    /** {@code .f4e}: four bytes forward from a place in the pair. */
    public static int forward(int a, int b, int selector) {
        return (int) (Long.rotateRight(pair(a, b), (selector & 3) * 8));
    }

    /** {@code .b4e}: four bytes backward from a place in the pair. */
    public static int backward(int a, int b, int selector) {
        int from = selector & 3;
        return bytes(a, b, from, from - 1 & 7, from - 2 & 7, from - 3 & 7);
    }

    /** {@code .rc8}: one byte four times. */
    public static int replicate8(int a, int b, int selector) {
        return (a >>> (selector & 3) * 8 & 0xff) * 0x01010101;
    }

    /** {@code .ecl}: bytes below the selected place repeat its byte. */
    public static int edgeClampLeft(int a, int b, int selector) {
        int edge = selector & 3;
        return bytes(a, b, Math.max(0, edge), Math.max(1, edge), Math.max(2, edge), 3);
    }

    /** {@code .ecr}: bytes above the selected place repeat its byte. */
    public static int edgeClampRight(int a, int b, int selector) {
        int edge = selector & 3;
        return bytes(a, b, 0, Math.min(1, edge), Math.min(2, edge), Math.min(3, edge));
    }

    /** {@code .rc16}: one half twice. */
    public static int replicate16(int a, int b, int selector) {
        return (a >>> (selector & 1) * 16 & 0xffff) * 0x00010001;
    }
}
