package io.tessera.software.arithmetic;

/**
 * A binary floating-point format: rounds exact values into it and reads its bits. The slow, general way, with integers
 * only; the types that programs compute with have fast paths of their own, which the tests compare with this one.
 */
public enum BinaryFormat {
    /** {@code .e4m3}: no infinity; magnitude 0x7f is the only NaN, so the largest finite value is 448. */
    E4M3(4, 3, 0x7e, 0x7f),
    /** {@code .e5m2}. */
    E5M2(5, 2, 0x7b, 0x7f),
    /** {@code .f16}, IEEE binary16. */
    F16(5, 10, 0x7bff, 0x7fff),
    /** {@code .bf16}: the upper half of binary32. */
    BF16(8, 7, 0x7f7f, 0x7fff),
    /** {@code .tf32} without the 13 low bits that binary32 has in addition. */
    TF32(8, 10, 0x3fbff, 0x3ffff),
    /** {@code .f32}, IEEE binary32. */
    F32(8, 23, 0x7f7fffff, 0x7fffffff),
    /** {@code .f64}, IEEE binary64. */
    F64(11, 52, 0x7fefffffffffffffL, 0x7fffffffffffffffL);

    private final int exponentBits;
    private final int fractionBits;
    private final long largestFinite;
    private final long canonicalNan;

    BinaryFormat(int exponentBits, int fractionBits, long largestFinite, long canonicalNan) {
        this.exponentBits = exponentBits;
        this.fractionBits = fractionBits;
        this.largestFinite = largestFinite;
        this.canonicalNan = canonicalNan;
    }

    /** Bits of the format's largest finite number. */
    public long largestFinite() {
        return largestFinite;
    }

    /** Bits of the NaN that instructions produce in this format. */
    public long canonicalNan() {
        return canonicalNan;
    }

    /** Bits of the smallest number that is not subnormal. */
    public long smallestNormal() {
        return 1L << fractionBits;
    }

    private int bias() {
        return (1 << exponentBits - 1) - 1;
    }

    private long signBit(boolean negative) {
        return negative ? 1L << exponentBits + fractionBits : 0;
    }

    /** Bits of infinity, or in a format without it of the largest finite number. */
    public long infinity(boolean negative) {
        return signBit(negative) | (this == E4M3 ? largestFinite : largestFinite + 1);
    }

    /**
     * Rounds an exact value into the format.
     *
     * @param negative    its sign
     * @param significand unsigned
     * @param exponent    the magnitude is {@code significand * 2^exponent}
     * @return the bits; values that are too large as {@code rounding} requires
     */
    public long encode(boolean negative, long significand, int exponent, Rounding rounding) {
        if (significand == 0) {
            return signBit(negative);
        }
        int leading = 63 - Long.numberOfLeadingZeros(significand) + exponent;
        int scale = Math.max(leading, 1 - bias());
        int dropped = scale - fractionBits - exponent;
        long fraction;
        boolean up = false;
        if (dropped <= 0) {
            fraction = significand << -dropped;
        } else if (dropped > 64) {
            fraction = 0;
            up = rounding.increments(negative, false, -1, true);
        } else {
            fraction = dropped == 64 ? 0 : significand >>> dropped;
            long rest = dropped == 64 ? significand : significand & (1L << dropped) - 1;
            int half = Long.compareUnsigned(rest, 1L << dropped - 1);
            up = rounding.increments(negative, (fraction & 1) != 0, half, rest != 0);
        }
        if (scale + bias() >= 1 << exponentBits) {
            return overflow(negative, rounding);
        }
        // The hidden bit of a normal fraction adds the one that is subtracted here; a subnormal one has none.
        long magnitude = ((long) (scale + bias() - 1) << fractionBits) + fraction + (up ? 1 : 0);
        return magnitude > largestFinite ? overflow(negative, rounding) : signBit(negative) | magnitude;
    }

    private long overflow(boolean negative, Rounding rounding) {
        return rounding.overflowsToInfinity(negative) ? infinity(negative) : signBit(negative) | largestFinite;
    }

    /** Rounds a double into the format; NaN becomes the canonical one. */
    public long encode(double value, Rounding rounding) {
        if (value != value) {
            return canonicalNan;
        }
        long bits = Double.doubleToRawLongBits(value);
        boolean negative = bits < 0;
        if (Double.isInfinite(value)) {
            return infinity(negative);
        }
        int biased = (int) (bits >>> 52) & 0x7ff;
        long fraction = bits & 0xfffffffffffffL;
        return biased == 0 ? encode(negative, fraction, -1074, rounding)
                : encode(negative, fraction | 1L << 52, biased - 1075, rounding);
    }

    /** As {@link #encode(double, Rounding)}, but too large values and infinities become the largest finite number. */
    public long encodeFinite(double value, Rounding rounding) {
        long bits = encode(value, rounding);
        long magnitude = bits & ~signBit(true);
        return value == value && magnitude > largestFinite ? bits & signBit(true) | largestFinite : bits;
    }

    /** Returns the value of bits in a format of at most 32 bits; exact. Bits above the format's are ignored. */
    public double decode(long bits) {
        long magnitude = bits & signBit(true) - 1;
        boolean negative = (bits & signBit(true)) != 0;
        double value;
        if (magnitude > largestFinite) {
            value = magnitude == largestFinite + 1 && this != E4M3 ? Double.POSITIVE_INFINITY : Double.NaN;
        } else {
            long biased = magnitude >>> fractionBits;
            long fraction = magnitude & (1L << fractionBits) - 1;
            long significand = biased == 0 ? fraction : fraction | 1L << fractionBits;
            value = significand * Math.scalb(1.0, (int) Math.max(biased, 1) - bias() - fractionBits);
        }
        return negative ? -value : value;
    }
}
