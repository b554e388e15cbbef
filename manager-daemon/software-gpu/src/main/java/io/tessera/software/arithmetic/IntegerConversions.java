package io.tessera.software.arithmetic;

/**
 * {@code cvt} from floats to integers, between integers, and from integers to floats. A conversion to an integer clamps
 * to the destination's range. NaN becomes 0; but if the source is {@code .f64} or the destination has 64 bits, it
 * becomes the number with only the top bit set (PTX ISA, cvt, notes on integer conversions).
 */
public final class IntegerConversions {
    private static final double TWO_63 = 0x1p63;

    private IntegerConversions() {
    }

    /** {@code .rni}, {@code .rzi}, {@code .rmi}, {@code .rpi}: the integral value, in the same format. */
    public static double integral(double value, Rounding rounding) {
        return switch (rounding) {
            case NEAREST_EVEN -> Math.rint(value);
            case TOWARD_ZERO -> value < 0 ? Math.ceil(value) : Math.floor(value);
            case DOWN -> Math.floor(value);
            case UP -> Math.ceil(value);
            case NEAREST_AWAY -> Math.copySign(Math.floor(Math.abs(value) + 0.5), value);
        };
    }

    /** {@code cvt.TYPEi.f32.f32}: an integral {@code .f32}. */
    public static float integral(float value, Rounding rounding) {
        return SingleArithmetic.canonical((float) integral((double) value, rounding));
    }

    /** To {@code .s32} from {@code .f32}, {@code .f16} or {@code .bf16}. */
    public static int toS32(float value, Rounding rounding) {
        return (int) integral((double) value, rounding);
    }

    /** To {@code .u32} from {@code .f32}, {@code .f16} or {@code .bf16}. */
    public static int toU32(float value, Rounding rounding) {
        return (int) Math.clamp((long) integral((double) value, rounding), 0, 0xffffffffL);
    }

    /**
     * Converts to an integer of any width.
     *
     * @param value      the source
     * @param bits       width of the destination: 8, 16, 32 or 64
     * @param signed     whether the destination is signed
     * @param fromDouble whether the source is {@code .f64}
     * @return the integer, zero-extended from its width
     */
    public static long toInteger(double value, Rounding rounding, int bits, boolean signed, boolean fromDouble) {
        if (value != value) {
            return fromDouble || bits == 64 ? 1L << bits - 1 : 0;
        }
        double whole = integral(value, rounding);
        if (bits == 64) {
            return signed ? (long) whole : toU64(whole);
        }
        return signed ? saturateSigned((long) whole, bits) : saturateUnsigned((long) whole, bits);
    }

    private static long toU64(double whole) {
        if (!(whole > 0)) {
            return 0;
        }
        if (whole < TWO_63) {
            return (long) whole;
        }
        return whole >= 2 * TWO_63 ? -1 : (long) (whole - TWO_63) + Long.MIN_VALUE;
    }

    /** A signed value clamped to a signed width; zero-extended from it. */
    public static long saturateSigned(long value, int bits) {
        return zeroExtend(Math.clamp(value, -1L << bits - 1, (1L << bits - 1) - 1), bits);
    }

    /** A signed value clamped to an unsigned width. */
    public static long saturateUnsigned(long value, int bits) {
        return bits == 64 ? Math.max(value, 0) : Math.clamp(value, 0, (1L << bits) - 1);
    }

    /** An unsigned value clamped to a signed width. */
    public static long saturateUnsignedToSigned(long value, int bits) {
        return IntegerArithmetic.minU64(value, (1L << bits - 1) - 1);
    }

    /** An unsigned value clamped to an unsigned width. */
    public static long saturateUnsignedToUnsigned(long value, int bits) {
        return bits == 64 ? value : IntegerArithmetic.minU64(value, (1L << bits) - 1);
    }

    /** Bits of a signed integer of a width as a long. */
    public static long signExtend(long value, int bits) {
        return value << 64 - bits >> 64 - bits;
    }

    /** Bits of an unsigned integer of a width as a long. */
    public static long zeroExtend(long value, int bits) {
        return value << 64 - bits >>> 64 - bits;
    }

    /**
     * {@code cvt} between integers.
     *
     * @param value     bits of the source; those above its width are ignored
     * @param fromBits  the source's width
     * @param fromSigned whether it is signed
     * @param saturate  {@code .sat}
     * @return the result, extended to 64 bits by the sign of the destination type: a destination register wider than
     *         the type gets that extension
     */
    public static long toInteger(long value, int fromBits, boolean fromSigned, int toBits, boolean toSigned,
            boolean saturate) {
        long source = fromSigned ? signExtend(value, fromBits) : zeroExtend(value, fromBits);
        if (saturate) {
            if (fromSigned) {
                source = toSigned ? saturateSigned(source, toBits) : saturateUnsigned(source, toBits);
            } else {
                source = toSigned ? saturateUnsignedToSigned(source, toBits)
                        : saturateUnsignedToUnsigned(source, toBits);
            }
        }
        return toSigned ? signExtend(source, toBits) : zeroExtend(source, toBits);
    }

    /** {@code cvt.f32.s32}, {@code cvt.f32.s64} and narrower. */
    public static float singleOfSigned(long value, Rounding rounding) {
        if (rounding == Rounding.NEAREST_EVEN) {
            return (float) value;
        }
        return Float.intBitsToFloat((int) ofInteger(BinaryFormat.F32, value, true, rounding));
    }

    /** {@code cvt.f32.u32}, {@code cvt.f32.u64} and narrower. */
    public static float singleOfUnsigned(long value, Rounding rounding) {
        return value >= 0 ? singleOfSigned(value, rounding)
                : Float.intBitsToFloat((int) ofInteger(BinaryFormat.F32, value, false, rounding));
    }

    /** {@code cvt.f64.s64} and narrower. */
    public static double doubleOfSigned(long value, Rounding rounding) {
        if (rounding == Rounding.NEAREST_EVEN) {
            return (double) value;
        }
        return Double.longBitsToDouble(ofInteger(BinaryFormat.F64, value, true, rounding));
    }

    /** {@code cvt.f64.u64} and narrower. */
    public static double doubleOfUnsigned(long value, Rounding rounding) {
        return value >= 0 ? doubleOfSigned(value, rounding)
                : Double.longBitsToDouble(ofInteger(BinaryFormat.F64, value, false, rounding));
    }

    /** An integer rounded into a format, as its bits. Zero is positive. */
    public static long ofInteger(BinaryFormat format, long value, boolean signed, Rounding rounding) {
        boolean negative = signed && value < 0;
        return format.encode(negative, negative ? -value : value, 0, rounding);
    }
}
