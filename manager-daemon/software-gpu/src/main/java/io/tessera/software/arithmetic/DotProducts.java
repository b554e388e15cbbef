package io.tessera.software.arithmetic;

/** {@code dp4a} and {@code dp2a}: products of bytes, summed with wrap-around. */
public final class DotProducts {
    private DotProducts() {
    }

    private static int field(int word, int shift, int bits, boolean signed) {
        int value = word << 32 - bits - shift;
        return signed ? value >> 32 - bits : value >>> 32 - bits;
    }

    /** {@code dp4a}: c plus the products of the four bytes of a and b. */
    public static int dp4a(int a, int b, int c, boolean signedA, boolean signedB) {
        int sum = c;
        for (int shift = 0; shift < 32; shift += 8) {
            sum += field(a, shift, 8, signedA) * field(b, shift, 8, signedB);
        }
        return sum;
    }

    /** {@code dp2a}: c plus the products of the halves of a with the low or high two bytes of b. */
    public static int dp2a(int a, int b, int c, boolean signedA, boolean signedB, boolean high) {
        int base = high ? 16 : 0;
        return c + field(a, 0, 16, signedA) * field(b, base, 8, signedB)
                + field(a, 16, 16, signedA) * field(b, base + 8, 8, signedB);
    }
}
