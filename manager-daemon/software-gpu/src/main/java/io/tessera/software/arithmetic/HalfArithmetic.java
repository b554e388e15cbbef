package io.tessera.software.arithmetic;

/**
 * Arithmetic of {@code .f16}, IEEE binary16, on the low 16 bits of an {@code int}; results are rounded to nearest even and zero-extended. A NaN result is
 * always 0x7fff, as the PTX ISA requires. Add, subtract and multiply go through {@code float}, whose 24 significant bits are enough for a second rounding to do
 * no harm (2p + 2, Figueroa 1995); {@code fma} rounds to odd in between.
 */
public final class HalfArithmetic {
    /** The NaN that instructions produce. */
    public static final int NAN = SixteenBitFloats.NAN;
    private static final int SIGN = SixteenBitFloats.SIGN;
    private static final int INFINITY = 0x7c00;
    private static final int SMALLEST_NORMAL = 0x0400;
    private static final int ONE = 0x3c00;

    private HalfArithmetic() {
    }

    /** Returns the value, exactly; a NaN keeps its payload. */
    public static float toSingle(int a) {
        return Float.float16ToFloat((short) a);
    }

    /** Rounds to nearest even; any NaN becomes {@link #NAN}. */
    public static int ofSingle(float value) {
        return value != value ? NAN : Float.floatToFloat16(value) & 0xffff;
    }

    /** {@code add.rn}. */
    public static int add(int a, int b) {
        return ofSingle(toSingle(a) + toSingle(b));
    }

    /** {@code sub.rn}. */
    public static int sub(int a, int b) {
        return ofSingle(toSingle(a) - toSingle(b));
    }

    /** {@code mul.rn}. */
    public static int mul(int a, int b) {
        return ofSingle(toSingle(a) * toSingle(b));
    }

    /** {@code fma.rn}. */
    public static int fma(int a, int b, int c) {
        double product = (double) toSingle(a) * toSingle(b);
        double addend = toSingle(c);
        double sum = product + addend;
        if (!(Math.abs(sum) <= Double.MAX_VALUE)) {
            return ofSingle((float) sum);
        }
        sum = ExactTransforms.oddSum(product, addend);
        return (int) BinaryFormat.F16.encode(sum, Rounding.NEAREST_EVEN);
    }

    /** {@code .ftz}: a subnormal number becomes a zero of its sign. */
    public static int flush(int a) {
        return SixteenBitFloats.flush(a, SMALLEST_NORMAL);
    }

    /**
     * {@code .ftz} of a rounded product: the hardware also flushes a product that became normal only by rounding.
     *
     * @param product result of {@code mul} for the operands
     */
    public static int flushProduct(int product, int a, int b) {
        boolean tiny = (product & 0x7fff) == SMALLEST_NORMAL
                && Math.abs(toSingle(a) * toSingle(b)) < toSingle(SMALLEST_NORMAL);
        return tiny ? product & SIGN : flush(product);
    }

    /** {@code .sat}: clamps to [0, 1]; NaN and negative zero become positive zero. */
    public static int saturate(int a) {
        return SixteenBitFloats.saturate(a, INFINITY, ONE);
    }

    /** {@code .relu}: negative values become positive zero, NaN becomes {@link #NAN}. */
    public static int relu(int a) {
        return SixteenBitFloats.relu(a, INFINITY);
    }

    /** Returns whether this is a NaN. */
    public static boolean isNan(int a) {
        return SixteenBitFloats.isNan(a, INFINITY);
    }

    /** {@code min}: the other operand if one is NaN; -0 is less than +0. */
    public static int min(int a, int b) {
        return SixteenBitFloats.extreme(a, b, false, INFINITY);
    }

    /** {@code max}: the other operand if one is NaN; -0 is less than +0. */
    public static int max(int a, int b) {
        return SixteenBitFloats.extreme(a, b, true, INFINITY);
    }

    /** {@code min.NaN}: NaN if one operand is. */
    public static int minNan(int a, int b) {
        return SixteenBitFloats.extremeNan(a, b, false, INFINITY);
    }

    /** {@code max.NaN}: NaN if one operand is. */
    public static int maxNan(int a, int b) {
        return SixteenBitFloats.extremeNan(a, b, true, INFINITY);
    }

    /** {@code .xorsign.abs}: gives the magnitude of a result the product of the operands' signs. */
    public static int xorSign(int result, int a, int b) {
        return SixteenBitFloats.xorSign(result, a, b);
    }

    /** {@code abs}: clears the sign; a NaN becomes {@link #NAN}. */
    public static int abs(int a) {
        return SixteenBitFloats.abs(a, INFINITY);
    }

    /** {@code neg}: inverts the sign; a NaN becomes {@link #NAN}. */
    public static int neg(int a) {
        return SixteenBitFloats.neg(a, INFINITY);
    }
}
