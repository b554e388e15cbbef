package io.tessera.software.arithmetic;

/**
 * {@code cvt} between float formats. A NaN becomes the canonical NaN of the destination; to {@code .f64} that of
 * {@code .f32} widened.
 */
public final class FloatConversions {
    /** Low bits of {@code .f32} that {@code .tf32} lacks; they are zero in a register. */
    private static final int TF32_SHIFT = 13;

    private FloatConversions() {
    }

    /** {@code cvt.f64.f32}. */
    public static double toDouble(float value) {
        return SingleArithmetic.canonical(value);
    }

    /** {@code cvt.f32.f64}. */
    public static float toSingle(double value, Rounding rounding) {
        return SingleArithmetic.round(value, rounding);
    }

    /** {@code cvt.f32.f16}. */
    public static float halfToSingle(int value) {
        return SingleArithmetic.canonical(HalfArithmetic.toSingle(value));
    }

    /** {@code cvt.f32.bf16}. */
    public static float brainToSingle(int value) {
        return SingleArithmetic.canonical(BrainArithmetic.toSingle(value));
    }

    /** {@code cvt.f16.f32}. */
    public static int singleToHalf(float value, Rounding rounding) {
        return rounding == Rounding.NEAREST_EVEN ? HalfArithmetic.ofSingle(value)
                : (int) BinaryFormat.F16.encode(value, rounding);
    }

    /** {@code cvt.bf16.f32}. */
    public static int singleToBrain(float value, Rounding rounding) {
        return rounding == Rounding.NEAREST_EVEN ? BrainArithmetic.ofSingle(value)
                : (int) BinaryFormat.BF16.encode(value, rounding);
    }

    /** {@code cvt.f16.f64}; one rounding. */
    public static int doubleToHalf(double value, Rounding rounding) {
        return (int) BinaryFormat.F16.encode(value, rounding);
    }

    /** {@code cvt.bf16.f64}; one rounding. */
    public static int doubleToBrain(double value, Rounding rounding) {
        return (int) BinaryFormat.BF16.encode(value, rounding);
    }

    /** {@code cvt.rna.tf32.f32} and other roundings: bits of an {@code .f32} whose low 13 bits are zero. */
    public static int singleToTf32(float value, Rounding rounding) {
        return value != value ? 0x7fffffff : (int) BinaryFormat.TF32.encode(value, rounding) << TF32_SHIFT;
    }

    /** {@code .satfinite} to a format of at most 16 bits. */
    public static int toFinite(BinaryFormat format, float value, Rounding rounding) {
        return (int) format.encodeFinite(value, rounding);
    }

    /** {@code cvt.rn.satfinite.e4m3x2.f32} and e5m2x2: {@code high} goes to the upper byte. */
    public static int toBytePair(BinaryFormat format, float high, float low) {
        return toFinite(format, high, Rounding.NEAREST_EVEN) << 8 | toFinite(format, low, Rounding.NEAREST_EVEN);
    }

    /** {@code cvt.rn.f16x2.e4m3x2} and e5m2x2: exact. */
    public static int bytePairToHalves(BinaryFormat format, int pair) {
        return PackedArithmetic.pack(byteToHalf(format, pair), byteToHalf(format, pair >>> 8));
    }

    private static int byteToHalf(BinaryFormat format, int value) {
        return (int) BinaryFormat.F16.encode(format.decode(value), Rounding.NEAREST_EVEN);
    }
}
