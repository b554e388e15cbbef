package io.tessera.software.arithmetic;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;

/**
 * Rounding by definition, with exact decimals: finds the two neighbours of an exact value in a format and chooses. Slow,
 * and written without the code under test.
 */
final class ExactReference {
    private ExactReference() {
    }

    /** Smallest positive number of a format, as an exponent of two, and its number of fraction bits and top. */
    record Shape(int lowestExponent, int fractionBits, BigDecimal largest) {
        static final Shape SINGLE = new Shape(-149, 23, new BigDecimal(Float.MAX_VALUE));
        static final Shape DOUBLE = new Shape(-1074, 52, new BigDecimal(Double.MAX_VALUE));
        static final Shape HALF = new Shape(-24, 10, new BigDecimal(65504));
        static final Shape BRAIN = new Shape(-133, 7, new BigDecimal(Float.intBitsToFloat(0x7f7f0000)));
    }

    /** 2 to a power, exactly. */
    static BigDecimal power(int exponent) {
        return exponent >= 0 ? new BigDecimal(BigInteger.ONE.shiftLeft(exponent))
                : BigDecimal.ONE.divide(new BigDecimal(BigInteger.ONE.shiftLeft(-exponent)));
    }

    /** Returns the largest power of two that is not above a positive value; far down for zero. */
    private static int binaryExponent(BigDecimal magnitude) {
        if (magnitude.signum() == 0) {
            return Integer.MIN_VALUE / 2;
        }
        // log2(10) per decimal place gets close; comparing does the rest.
        int exponent = (int) Math.floor((magnitude.precision() - magnitude.scale() - 1) * 3.321928094887362) - 1;
        while (magnitude.compareTo(power(exponent + 1)) >= 0) {
            exponent++;
        }
        return exponent;
    }

    /**
     * An exact value rounded; infinite if too large. {@code sticky} is the sign of what the value lacks to the truth,
     * where that has no finite decimal form; it must be far smaller than a unit.
     */
    static double round(BigDecimal value, int sticky, Shape shape, Rounding rounding) {
        boolean negative = value.signum() < 0 || value.signum() == 0 && sticky < 0;
        BigDecimal magnitude = value.abs();
        int beyond = negative ? -sticky : sticky;
        int exponent = Math.max(shape.lowestExponent, binaryExponent(magnitude) - shape.fractionBits);
        BigDecimal unit = power(exponent);
        BigDecimal[] parts = magnitude.divideAndRemainder(unit);
        BigInteger quotient = parts[0].toBigIntegerExact();
        BigDecimal rest = parts[1];
        if (rest.signum() == 0 && beyond < 0) {
            quotient = quotient.subtract(BigInteger.ONE);
            rest = unit;
        }
        int half = rest.multiply(BigDecimal.TWO).compareTo(unit);
        half = half == 0 ? beyond : half;
        boolean inexact = rest.signum() != 0 || beyond != 0;
        boolean up = switch (rounding) {
            case NEAREST_EVEN -> half > 0 || half == 0 && inexact && quotient.testBit(0);
            case NEAREST_AWAY -> half >= 0 && inexact;
            case TOWARD_ZERO -> false;
            case DOWN -> inexact && negative;
            case UP -> inexact && !negative;
        };
        BigDecimal result = new BigDecimal(up ? quotient.add(BigInteger.ONE) : quotient).multiply(unit);
        if (result.compareTo(shape.largest) > 0) {
            boolean infinite = rounding == Rounding.NEAREST_EVEN || rounding == Rounding.NEAREST_AWAY
                    || rounding == Rounding.UP && !negative || rounding == Rounding.DOWN && negative;
            double top = infinite ? Double.POSITIVE_INFINITY : shape.largest.doubleValue();
            return negative ? -top : top;
        }
        return negative ? -result.doubleValue() : result.doubleValue();
    }

    /** A quotient rounded. */
    static double quotient(double a, double b, Shape shape, Rounding rounding) {
        BigDecimal dividend = new BigDecimal(a);
        BigDecimal divisor = new BigDecimal(b);
        BigDecimal quotient = dividend.divide(divisor, new MathContext(800));
        int sticky = dividend.compareTo(quotient.multiply(divisor)) * divisor.signum();
        return round(quotient, sticky, shape, rounding);
    }

    /** A square root rounded. */
    static double root(double a, Shape shape, Rounding rounding) {
        BigDecimal operand = new BigDecimal(a);
        BigDecimal root = operand.sqrt(new MathContext(400));
        return round(root, operand.compareTo(root.multiply(root)), shape, rounding);
    }
}
