package io.tessera.software.arithmetic;

/**
 * Operations of the two 16-bit formats. Both have a sign in bit 15, and numbers in the order of their bits below their infinity, which distinguishes the
 * formats. Works on the low 16 bits of an {@code int}; results are zero-extended, a NaN result is {@link #NAN}. Stateless.
 */
final class SixteenBitFloats {
    /** The NaN that instructions produce. */
    static final int NAN = 0x7fff;
    static final int SIGN = 0x8000;

    private SixteenBitFloats() {
    }

    static boolean isNan(int a, int infinity) {
        return (a & 0x7fff) > infinity;
    }

    static int flush(int a, int smallestNormal) {
        return (a & 0x7fff) < smallestNormal ? a & SIGN : a & 0xffff;
    }

    static int saturate(int a, int infinity, int one) {
        int bits = a & 0xffff;
        return bits > infinity ? 0 : Math.min(bits, one);
    }

    static int relu(int a, int infinity) {
        return isNan(a, infinity) ? NAN : (a & SIGN) != 0 ? 0 : a & 0xffff;
    }

    /** Orders as numbers, -0 before +0. */
    private static int order(int a) {
        return (a & SIGN) != 0 ? ~a & 0x7fff | 0xffff8000 : a & 0x7fff;
    }

    /** Returns the lesser, or where {@code greater} the greater one; the other operand if one is NaN. */
    static int extreme(int a, int b, boolean greater, int infinity) {
        if (isNan(a, infinity) || isNan(b, infinity)) {
            return isNan(a, infinity) ? isNan(b, infinity) ? NAN : b & 0xffff : a & 0xffff;
        }
        boolean first = greater ? order(a) >= order(b) : order(a) <= order(b);
        return (first ? a : b) & 0xffff;
    }

    /** As above, but NaN if one operand is. */
    static int extremeNan(int a, int b, boolean greater, int infinity) {
        return isNan(a, infinity) || isNan(b, infinity) ? NAN : extreme(a, b, greater, infinity);
    }

    static int xorSign(int result, int a, int b) {
        return result & 0x7fff | (a ^ b) & SIGN;
    }

    static int abs(int a, int infinity) {
        return isNan(a, infinity) ? NAN : a & 0x7fff;
    }

    static int neg(int a, int infinity) {
        return isNan(a, infinity) ? NAN : (a ^ SIGN) & 0xffff;
    }
}
