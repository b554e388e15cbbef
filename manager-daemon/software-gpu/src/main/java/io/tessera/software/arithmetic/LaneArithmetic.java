package io.tessera.software.arithmetic;

/**
 * SIMD video instructions on the lanes of a 32-bit word, as PTX ISA 9.0 defines them: lanes are extended by their own
 * operand's type, the operation is exact, and the result is cut or clamped to the lane. Pure functions.
 */
public final class LaneArithmetic {
    private LaneArithmetic() {
    }

    /** Operation on two lanes. */
    @FunctionalInterface
    public interface Operation {
        /** Returns the exact result. */
        int apply(int a, int b);
    }

    /** The lanes that are signed. */
    public record Signs(boolean result, boolean a, boolean b) {
    }

    /** Returns the average; one bit is added before the shift unless the sum is negative. */
    public static int average(int a, int b) {
        int sum = a + b;
        return sum + (sum >= 0 ? 1 : 0) >> 1;
    }

    /**
     * The lanes that take part: four bits for each lane of the result select a lane of the two sources, those of the second after those of the first.
     *
     * @param a    lanes of the first operand
     * @param b    lanes of the second
     * @param mask one bit for each lane that is computed
     */
    public record Selection(int a, int b, int mask) {
        /** Each operand's lanes in order, all of them. */
        public static Selection all(int bits) {
            return bits == 16 ? new Selection(0x10, 0x32, 0b11) : new Selection(0x3210, 0x7654, 0b1111);
        }
    }

    /**
     * A word of results; lanes that are not selected come from {@code c}.
     *
     * @param bits     of a lane: 8 or 16
     * @param saturate clamp to what a lane of the result holds, instead of cutting
     */
    public static int map(int bits, Operation operation, Signs signs, boolean saturate, Selection lanes, int a, int b, int c) {
        int word = c;
        int least = signs.result() ? -(1 << bits - 1) : 0;
        int most = signs.result() ? (1 << bits - 1) - 1 : (1 << bits) - 1;
        for (int i = 0; i < 32 / bits; i++) {
            if ((lanes.mask() >> i & 1) != 0) {
                int value = apply(bits, operation, signs, lanes, i, a, b);
                int kept = saturate ? Math.clamp(value, least, most) : value;
                int mask = (1 << bits) - 1 << i * bits;
                word = word & ~mask | kept << i * bits & mask;
            }
        }
        return word;
    }

    /** Returns the sum of all exact results that are selected and of a further number, cut to 32 bits. */
    public static int sum(int bits, Operation operation, Signs signs, Selection lanes, int a, int b, int c) {
        int sum = c;
        for (int i = 0; i < 32 / bits; i++) {
            sum += (lanes.mask() >> i & 1) != 0 ? apply(bits, operation, signs, lanes, i, a, b) : 0;
        }
        return sum;
    }

    private static int apply(int bits, Operation operation, Signs signs, Selection lanes, int lane, int a, int b) {
        return operation.apply(lane(a, b, lanes.a() >> 4 * lane & 0xf, bits, signs.a()),
                lane(a, b, lanes.b() >> 4 * lane & 0xf, bits, signs.b()));
    }

    private static int lane(int a, int b, int number, int bits, boolean signed) {
        int lanes = 32 / bits;
        int top = (number < lanes ? a : b) << 32 - bits - number % lanes * bits;
        return signed ? top >> 32 - bits : top >>> 32 - bits;
    }
}
