package io.tessera.software.arithmetic;

/**
 * Arithmetic of {@code .f64}: IEEE 754 with every rounding mode of PTX. NaN payloads pass through: the result of an
 * operation with NaN operands is the first of them, made quiet; an invalid operation gives {@link #INVALID}, as on
 * NVIDIA hardware.
 */
public final class DoubleArithmetic {
    /** Result of an invalid operation on numbers. */
    public static final double INVALID = Double.longBitsToDouble(0xfff8000000000000L);
    private static final long QUIET = 1L << 51;

    private DoubleArithmetic() {
    }

    private static double quiet(double nan) {
        return Double.longBitsToDouble(Double.doubleToRawLongBits(nan) | QUIET);
    }

    /** Returns the NaN that an operation on these gives. */
    private static double nan(double a, double b) {
        return a != a ? quiet(a) : b != b ? quiet(b) : INVALID;
    }

    private static double nan(double a, double b, double c) {
        return a != a ? quiet(a) : nan(b, c);
    }

    /** {@code add.rn}. */
    public static double add(double a, double b) {
        double sum = a + b;
        return sum != sum ? nan(a, b) : sum;
    }

    /** {@code sub.rn}. */
    public static double sub(double a, double b) {
        double difference = a - b;
        return difference != difference ? nan(a, b) : difference;
    }

    /** {@code mul.rn}. */
    public static double mul(double a, double b) {
        double product = a * b;
        return product != product ? nan(a, b) : product;
    }

    /** {@code fma.rn}. */
    public static double fma(double a, double b, double c) {
        double result = Math.fma(a, b, c);
        return result != result ? nan(a, b, c) : result;
    }

    /** {@code div.rn}. */
    public static double div(double a, double b) {
        double quotient = a / b;
        return quotient != quotient ? nan(a, b) : quotient;
    }

    /** {@code sqrt.rn}. */
    public static double sqrt(double a) {
        double root = Math.sqrt(a);
        return root != root ? nan(a, a) : root;
    }

    /** {@code rcp.rn}. */
    public static double rcp(double a) {
        return div(1, a);
    }

    /** {@code add} with a rounding mode. */
    public static double add(double a, double b, Rounding rounding) {
        double sum = a + b;
        if (rounding == Rounding.NEAREST_EVEN || !finite(a) || !finite(b)) {
            return add(a, b);
        }
        if (!finite(sum)) {
            return overflow(sum, rounding);
        }
        if (sum == 0) {
            return zeroSum(sum, a, b, rounding);
        }
        return rounding.correct(sum, ExactTransforms.restOfSum(a, b, sum));
    }

    /** {@code sub} with a rounding mode. */
    public static double sub(double a, double b, Rounding rounding) {
        return a != a || b != b ? sub(a, b) : add(a, -b, rounding);
    }

    /** {@code mul} with a rounding mode. */
    public static double mul(double a, double b, Rounding rounding) {
        double product = a * b;
        if (rounding == Rounding.NEAREST_EVEN || !finite(a) || !finite(b) || a == 0 || b == 0) {
            return mul(a, b);
        }
        return finite(product) ? rounding.correct(product, ExactTransforms.restOfProduct(a, b, product))
                : overflow(product, rounding);
    }

    /** {@code fma} with a rounding mode. Not rn: decided with exact decimals, about a microsecond. */
    public static double fma(double a, double b, double c, Rounding rounding) {
        double result = Math.fma(a, b, c);
        if (rounding == Rounding.NEAREST_EVEN || !finite(a) || !finite(b) || !finite(c)) {
            return fma(a, b, c);
        }
        if (!finite(result)) {
            return overflow(result, rounding);
        }
        int rest = ExactTransforms.restOfFma(a, b, c, result);
        if (result == 0 && rest == 0) {
            return zeroSum(result, Math.copySign(1, a) * Math.copySign(1, b) * (a == 0 || b == 0 ? 0.0 : 1.0), c,
                    rounding);
        }
        return rounding.correct(result, rest);
    }

    /** {@code div} with a rounding mode. */
    public static double div(double a, double b, Rounding rounding) {
        double quotient = a / b;
        if (rounding == Rounding.NEAREST_EVEN || !finite(a) || !finite(b) || a == 0 || b == 0) {
            return div(a, b);
        }
        return finite(quotient) ? rounding.correct(quotient, ExactTransforms.restOfQuotient(a, b, quotient))
                : overflow(quotient, rounding);
    }

    /** {@code rcp} with a rounding mode. */
    public static double rcp(double a, Rounding rounding) {
        return div(1, a, rounding);
    }

    /** {@code sqrt} with a rounding mode. */
    public static double sqrt(double a, Rounding rounding) {
        double root = Math.sqrt(a);
        if (rounding == Rounding.NEAREST_EVEN || !finite(a) || !(a > 0)) {
            return sqrt(a);
        }
        return rounding.correct(root, ExactTransforms.restOfRoot(a, root));
    }

    /** Numbers gave an infinity: which end a rounding mode stays at. */
    private static double overflow(double infinity, Rounding rounding) {
        return rounding.overflowsToInfinity(infinity < 0) ? infinity : Math.copySign(Double.MAX_VALUE, infinity);
    }

    /** An exact zero from terms of opposite sign is negative when rounding down (IEEE 754, 6.3). */
    private static double zeroSum(double zero, double a, double b, Rounding rounding) {
        boolean alike = Math.copySign(1, a) == Math.copySign(1, b);
        return !alike && rounding == Rounding.DOWN ? -0.0 : zero;
    }

    private static boolean finite(double value) {
        return Math.abs(value) <= Double.MAX_VALUE;
    }

    /** {@code min}: the other operand if one is NaN; -0 is less than +0. */
    public static double min(double a, double b) {
        return a != a ? b != b ? quiet(a) : b : b != b ? a : Math.min(a, b);
    }

    /** {@code max}: the other operand if one is NaN; -0 is less than +0. */
    public static double max(double a, double b) {
        return a != a ? b != b ? quiet(a) : b : b != b ? a : Math.max(a, b);
    }

    /** {@code abs}: clears the sign. */
    public static double abs(double a) {
        return Double.longBitsToDouble(Double.doubleToRawLongBits(a) & Long.MAX_VALUE);
    }

    /** {@code neg}: inverts the sign. */
    public static double neg(double a) {
        return Double.longBitsToDouble(Double.doubleToRawLongBits(a) ^ Long.MIN_VALUE);
    }

    /** {@code copysign d, a, b}: the magnitude of b with the sign of a. */
    public static double copySign(double a, double b) {
        return Double.longBitsToDouble(Double.doubleToRawLongBits(a) & Long.MIN_VALUE
                | Double.doubleToRawLongBits(b) & Long.MAX_VALUE);
    }

    /** {@code .sat}: clamps to [0, 1]; NaN and negative zero become positive zero. */
    public static double saturate(double value) {
        return value > 0 ? value < 1 ? value : 1 : 0;
    }
}
