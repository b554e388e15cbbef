package io.tessera.software.arithmetic;

import java.math.BigDecimal;

/**
 * The error of a rounded double, and doubles rounded to odd: the base of every rounding mode that the processor does not have. Error-free transforms are those
 * of Knuth (TwoSum) and Dekker (FastTwoSum); rounding to odd before a second rounding is Boldo and Melquiond, "Emulation of FMA and correctly rounded sums",
 * IEEE Transactions on Computers 57 (2008).
 */
final class ExactTransforms {
    /** Products and quotients above this have a residual that a double can hold; below, exact decimals decide. */
    private static final double SAFE_MAGNITUDE = 0x1p-960;
    private static final double SAFE_OPERAND = 0x1p+960;

    private ExactTransforms() {
    }

    /** Sign of {@code (a + b) - sum}, where {@code sum} is finite and is {@code a + b} rounded to nearest. */
    static int restOfSum(double a, double b, double sum) {
        double large = Math.abs(a) >= Math.abs(b) ? a : b;
        double small = Math.abs(a) >= Math.abs(b) ? b : a;
        return sign(small - (sum - large));
    }

    /** Sign of {@code a * b - product}, where {@code product} is finite and is the product rounded to nearest. */
    static int restOfProduct(double a, double b, double product) {
        if (Math.abs(product) > SAFE_MAGNITUDE) {
            return sign(Math.fma(a, b, -product));
        }
        return new BigDecimal(a).multiply(new BigDecimal(b)).compareTo(new BigDecimal(product));
    }

    /** Sign of {@code (a * b + c) - result}, where {@code result} is finite and rounded to nearest. */
    static int restOfFma(double a, double b, double c, double result) {
        return new BigDecimal(a).multiply(new BigDecimal(b)).add(new BigDecimal(c))
                .compareTo(new BigDecimal(result));
    }

    /** Sign of {@code a / b - quotient}, where {@code quotient} is finite and rounded to nearest; b is not zero. */
    static int restOfQuotient(double a, double b, double quotient) {
        int rest;
        if (safe(quotient) && safe(a) && safe(b)) {
            rest = sign(Math.fma(-quotient, b, a));
        } else {
            rest = new BigDecimal(a).compareTo(new BigDecimal(quotient).multiply(new BigDecimal(b)));
        }
        return b < 0 ? -rest : rest;
    }

    /** Sign of {@code sqrt(a) - root}, where {@code root} is rounded to nearest; a is finite and positive. */
    static int restOfRoot(double a, double root) {
        if (safe(a)) {
            return sign(Math.fma(-root, root, a));
        }
        BigDecimal exact = new BigDecimal(root);
        return new BigDecimal(a).compareTo(exact.multiply(exact));
    }

    private static boolean safe(double value) {
        double magnitude = Math.abs(value);
        return magnitude > 0x1p-400 && magnitude < SAFE_OPERAND;
    }

    /** A nearest result and the sign of what it lacks, as the result rounded to odd. */
    static double toOdd(double nearest, int rest) {
        if (rest == 0 || (Double.doubleToRawLongBits(nearest) & 1) != 0) {
            return nearest;
        }
        return rest > 0 ? Math.nextUp(nearest) : Math.nextDown(nearest);
    }

    /** {@code product + addend} rounded to odd; both finite and far from overflow, as with operands of 32 bits. */
    static double oddSum(double product, double addend) {
        double sum = product + addend;
        return toOdd(sum, restOfSum(product, addend, sum));
    }

    private static int sign(double value) {
        return value > 0 ? 1 : value < 0 ? -1 : 0;
    }
}
