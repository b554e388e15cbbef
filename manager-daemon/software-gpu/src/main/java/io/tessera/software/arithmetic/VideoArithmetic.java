package io.tessera.software.arithmetic;

import java.math.BigInteger;

/**
 * Video instructions on scalars, as PTX ISA 9.0 defines them: a part of each source is extended, the operation is exact, the result
 * clamped, then combined with a third operand. Pure functions.
 */
public final class VideoArithmetic {
    /** Exponent for a shifted number whose low 32 bits are zero and that is beyond every range of results. */
    private static final int BEYOND = 40;

    private VideoArithmetic() {
    }

    /**
     * Bits of a word.
     *
     * @param shift the lowest one
     * @param bits  8, 16 or 32
     */
    public record Part(int shift, int bits) {
        /** Returns the part as one number, for a constant of an instruction. */
        public int code() {
            return shift << 8 | bits;
        }

        /** Returns the part of a {@link #code}. */
        public static Part ofCode(long code) {
            return new Part((int) code >> 8, (int) code & 0xff);
        }

        /** Returns the part of a word, extended by its sign or by zeros. */
        public long of(long word, boolean signed) {
            int unused = 64 - bits;
            long top = word >>> shift << unused;
            return signed ? top >> unused : top >>> unused;
        }

        /** Clamps to what this part of a result holds. */
        public long clamp(long value, boolean signed) {
            long least = signed ? -1L << bits - 1 : 0;
            long most = signed ? ~least : (1L << bits) - 1;
            return Math.clamp(value, least, most);
        }

        /** A word with this part replaced. */
        public long merge(long word, long part) {
            long mask = (1L << bits) - 1 << shift;
            return word & ~mask | part << shift & mask;
        }
    }

    /** {@code vshl}; distances beyond 32 count as 32. */
    public static long shiftLeft(long value, long distance) {
        return distance < 32 ? value << distance : (long) Long.signum(value) << BEYOND;
    }

    /** {@code vshr}; distances beyond 32 count as 32. */
    public static long shiftRight(long value, long distance) {
        return value >> Math.min(distance, 32);
    }

    /** Signs and scale of {@code vmad}. */
    public record Multiplication(boolean negatesProduct, boolean negatesAddend, boolean plusOne, int scale, boolean saturates) {
    }

    /**
     * {@code vmad}.
     *
     * @param signed whether the result is signed
     */
    public static long multiplyAdd(long a, long b, long c, boolean signed, Multiplication how) {
        BigInteger product = BigInteger.valueOf(a).multiply(BigInteger.valueOf(b));
        BigInteger addend = BigInteger.valueOf(signed ? (int) c : c & 0xffffffffL);
        BigInteger sum = (how.negatesProduct() ? product.negate() : product)
                .add(how.negatesAddend() && !how.negatesProduct() && !how.plusOne() ? addend.negate() : addend);
        // "tmp = ~tmp; lsb = 1" is the negation; .po adds the one alone.
        BigInteger result = (how.plusOne() ? sum.add(BigInteger.ONE) : sum).shiftRight(how.scale());
        if (!how.saturates()) {
            return result.intValue();
        }
        BigInteger least = BigInteger.valueOf(signed ? Integer.MIN_VALUE : 0);
        BigInteger most = BigInteger.valueOf(signed ? Integer.MAX_VALUE : 0xffffffffL);
        return result.max(least).min(most).intValue();
    }
}
