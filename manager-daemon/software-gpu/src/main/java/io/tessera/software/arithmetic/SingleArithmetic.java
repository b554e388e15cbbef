package io.tessera.software.arithmetic;

/**
 * Arithmetic of {@code .f32}: IEEE 754 with every rounding mode of PTX. A NaN result is always 0x7fffffff, as on
 * NVIDIA hardware (the PTX ISA leaves its payload open). Modifiers are functions to compose: {@code add.ftz.sat} is
 * {@code saturate(flush(add(flush(a), flush(b))))}.
 */
public final class SingleArithmetic {
    /** The NaN that {@code .f32} instructions produce. */
    public static final float NAN = Float.intBitsToFloat(0x7fffffff);

    /** Takes results about the least normal number, and what they come from, to where no subnormal is near. */
    private static final float SCALE = 0x1p62f;

    private SingleArithmetic() {
    }

    /** Returns the value itself, any NaN as {@link #NAN}. */
    public static float canonical(float value) {
        return value != value ? NAN : value;
    }

    /** {@code .ftz}: a subnormal number becomes a zero of its sign. */
    public static float flush(float value) {
        return Math.abs(value) < Float.MIN_NORMAL ? Math.copySign(0f, value) : value;
    }

    /**
     * {@code .ftz} of a product. A product is flushed if it is subnormal after rounding with unbounded exponents (measured on an H200). The product of the
     * least normal number and one minus an ulp is; a product nearer to the least normal number is not.
     *
     * @param product result of {@code mul} for the already flushed operands, rounded the same way
     */
    public static float flushProduct(float product, float a, float b, Rounding rounding) {
        boolean tiny = Math.abs(product) == Float.MIN_NORMAL
                && Math.abs(mul(a * SCALE, b, rounding)) < Float.MIN_NORMAL * SCALE;
        return tiny ? Math.copySign(0f, product) : flush(product);
    }

    /** {@code .ftz} of what {@code fma} gave for already flushed operands; as {@link #flushProduct}. */
    public static float flushFma(float result, float a, float b, float c, Rounding rounding) {
        boolean tiny = Math.abs(result) == Float.MIN_NORMAL
                && Math.abs(fma(a * SCALE, b, c * SCALE, rounding)) < Float.MIN_NORMAL * SCALE;
        return tiny ? Math.copySign(0f, result) : flush(result);
    }

    /** {@code .sat}: clamps to [0, 1]; NaN and negative zero become positive zero. */
    public static float saturate(float value) {
        return value > 0 ? value < 1 ? value : 1f : 0f;
    }

    /** {@code .relu}: negative values become positive zero, NaN becomes {@link #NAN}. */
    public static float relu(float value) {
        return value > 0 ? value : value == value ? 0f : NAN;
    }

    /** {@code add.rn}. */
    public static float add(float a, float b) {
        return canonical(a + b);
    }

    /** {@code sub.rn}. */
    public static float sub(float a, float b) {
        return canonical(a - b);
    }

    /** {@code mul.rn}. */
    public static float mul(float a, float b) {
        return canonical(a * b);
    }

    /** {@code fma.rn}. */
    public static float fma(float a, float b, float c) {
        return canonical(Math.fma(a, b, c));
    }

    /** {@code div.rn}. */
    public static float div(float a, float b) {
        return canonical(a / b);
    }

    /** {@code sqrt.rn}. */
    public static float sqrt(float a) {
        return canonical((float) Math.sqrt(a));
    }

    /** {@code rcp.rn}. */
    public static float rcp(float a) {
        return canonical(1f / a);
    }

    /** {@code add} with a rounding mode. */
    public static float add(float a, float b, Rounding rounding) {
        float nearest = a + b;
        if (rounding == Rounding.NEAREST_EVEN || !finite(a) || !finite(b)) {
            return canonical(nearest);
        }
        return zeroSum(round(ExactTransforms.oddSum(a, b), rounding), a, b, rounding);
    }

    /** {@code sub} with a rounding mode. */
    public static float sub(float a, float b, Rounding rounding) {
        return add(a, -b, rounding);
    }

    /** {@code mul} with a rounding mode. */
    public static float mul(float a, float b, Rounding rounding) {
        // 48 significant bits and an exponent within a double's range: the product is exact.
        return rounding == Rounding.NEAREST_EVEN ? mul(a, b) : round((double) a * b, rounding);
    }

    /** {@code fma} with a rounding mode. */
    public static float fma(float a, float b, float c, Rounding rounding) {
        if (rounding == Rounding.NEAREST_EVEN || !finite(a) || !finite(b) || !finite(c)) {
            return fma(a, b, c);
        }
        double product = (double) a * b;
        return zeroSum(round(ExactTransforms.oddSum(product, c), rounding), product, c, rounding);
    }

    /** {@code div} with a rounding mode. */
    public static float div(float a, float b, Rounding rounding) {
        double quotient = (double) a / b;
        if (rounding == Rounding.NEAREST_EVEN || !finite(a) || !finite(b) || b == 0) {
            return div(a, b);
        }
        return round(ExactTransforms.toOdd(quotient, ExactTransforms.restOfQuotient(a, b, quotient)), rounding);
    }

    /** {@code rcp} with a rounding mode. */
    public static float rcp(float a, Rounding rounding) {
        return div(1f, a, rounding);
    }

    /** {@code sqrt} with a rounding mode. */
    public static float sqrt(float a, Rounding rounding) {
        if (rounding == Rounding.NEAREST_EVEN || !finite(a) || !(a > 0)) {
            return sqrt(a);
        }
        double root = Math.sqrt(a);
        return round(ExactTransforms.toOdd(root, ExactTransforms.restOfRoot(a, root)), rounding);
    }

    /** A double, exact or rounded to odd, rounded to {@code .f32}; NaN becomes {@link #NAN}. */
    public static float round(double value, Rounding rounding) {
        float nearest = (float) value;
        if (nearest != nearest) {
            return NAN;
        }
        if (Double.isInfinite(value)) {
            return nearest;
        }
        return switch (rounding) {
            case NEAREST_EVEN -> nearest;
            case TOWARD_ZERO -> value > 0 && nearest > value ? Math.nextDown(nearest)
                    : value < 0 && nearest < value ? Math.nextUp(nearest) : nearest;
            case DOWN -> nearest > value ? Math.nextDown(nearest) : nearest;
            case UP -> nearest < value ? Math.nextUp(nearest) : nearest;
            case NEAREST_AWAY -> Float.intBitsToFloat((int) BinaryFormat.F32.encode(value, rounding));
        };
    }

    /** An exact zero from terms of opposite sign is negative when rounding down (IEEE 754, 6.3). */
    private static float zeroSum(float sum, double a, double b, Rounding rounding) {
        boolean cancelled = sum == 0 && a == -b && (a != 0 || Math.copySign(1, a) != Math.copySign(1, b));
        return cancelled && rounding == Rounding.DOWN ? -0f : sum;
    }

    private static boolean finite(float value) {
        return Math.abs(value) <= Float.MAX_VALUE;
    }

    /** {@code min}: the other operand if one is NaN; -0 is less than +0. */
    public static float min(float a, float b) {
        return a != a ? canonical(b) : b != b ? a : Math.min(a, b);
    }

    /** {@code max}: the other operand if one is NaN; -0 is less than +0. */
    public static float max(float a, float b) {
        return a != a ? canonical(b) : b != b ? a : Math.max(a, b);
    }

    /** {@code min.NaN}: NaN if one operand is. */
    public static float minNan(float a, float b) {
        return canonical(Math.min(a, b));
    }

    /** {@code max.NaN}: NaN if one operand is. */
    public static float maxNan(float a, float b) {
        return canonical(Math.max(a, b));
    }

    /** {@code .xorsign.abs}: gives the magnitude of a result the product of the operands' signs. */
    public static float xorSign(float result, float a, float b) {
        int sign = (Float.floatToRawIntBits(a) ^ Float.floatToRawIntBits(b)) & 0x80000000;
        return Float.intBitsToFloat(Float.floatToRawIntBits(result) & 0x7fffffff | sign);
    }

    /** {@code abs}. */
    public static float abs(float a) {
        return canonical(Math.abs(a));
    }

    /** {@code neg}. */
    public static float neg(float a) {
        return canonical(-a);
    }

    /** {@code copysign d, a, b}: the magnitude of b with the sign of a. */
    public static float copySign(float a, float b) {
        int bits = Float.floatToRawIntBits(a) & 0x80000000 | Float.floatToRawIntBits(b) & 0x7fffffff;
        return Float.intBitsToFloat(bits);
    }
}
