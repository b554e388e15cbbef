package io.tessera.software.arithmetic;

/**
 * SIMD video instructions on the lanes of a 32-bit word, as PTX ISA 9.0 defines them: lanes are extended by their own
 * operand's type, the operation is exact, and the result is cut or clamped to the lane. Pure functions.
 */
public final class LaneArithmetic {
    private LaneArithmetic() {
    }

    /** What is done with two lanes. */
    @FunctionalInterface
    public interface Operation {
        /** The exact result. */
        int apply(int a, int b);
    }

    /** Whose lanes have a sign. */
    public record Signs(boolean result, boolean a, boolean b) {
    }

    /** The average; one bit is added before the shift unless the sum is negative. */
    public static int average(int a, int b) {
        int sum = a + b;
        return sum + (sum >= 0 ? 1 : 0) >> 1;
    }

    /**
     * A word of results.
     *
     * @param bits     of a lane: 8 or 16
     * @param saturate clamp to what a lane of the result holds, instead of cutting
     */
    public static int map(int bits, Operation operation, Signs signs, boolean saturate, int a, int b) {
        int word = 0;
        int least = signs.result() ? -(1 << bits - 1) : 0;
        int most = signs.result() ? (1 << bits - 1) - 1 : (1 << bits) - 1;
        for (int shift = 0; shift < 32; shift += bits) {
            int value = operation.apply(lane(a, shift, bits, signs.a()), lane(b, shift, bits, signs.b()));
            int kept = saturate ? Math.clamp(value, least, most) : value;
            word |= (kept & (1 << bits) - 1) << shift;
        }
        return word;
    }

    /** The sum of all exact results and of a further number, cut to 32 bits. */
    public static int sum(int bits, Operation operation, Signs signs, int a, int b, int c) {
        int sum = c;
        for (int shift = 0; shift < 32; shift += bits) {
            sum += operation.apply(lane(a, shift, bits, signs.a()), lane(b, shift, bits, signs.b()));
        }
        return sum;
    }

    private static int lane(int word, int shift, int bits, boolean signed) {
        int top = word << 32 - bits - shift;
        return signed ? top >> 32 - bits : top >>> 32 - bits;
    }
}
