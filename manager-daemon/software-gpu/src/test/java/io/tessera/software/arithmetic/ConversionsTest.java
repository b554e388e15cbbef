package io.tessera.software.arithmetic;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** cvt against exact decimals, and the approximations against their documented errors. */
class ConversionsTest {
    private static final Map<Rounding, RoundingMode> MODES = Map.of(Rounding.NEAREST_EVEN, RoundingMode.HALF_EVEN,
            Rounding.TOWARD_ZERO, RoundingMode.DOWN, Rounding.DOWN, RoundingMode.FLOOR, Rounding.UP,
            RoundingMode.CEILING);
    private static final int[] WIDTHS = {8, 16, 32, 64};

    private final Operands operands = new Operands();

    private static long expected(double value, Rounding mode, int bits, boolean signed) {
        BigInteger low = signed ? BigInteger.ONE.shiftLeft(bits - 1).negate() : BigInteger.ZERO;
        BigInteger high = BigInteger.ONE.shiftLeft(signed ? bits - 1 : bits).subtract(BigInteger.ONE);
        if (Double.isInfinite(value)) {
            return (value > 0 ? high : low).longValue() & -1L >>> 64 - bits;
        }
        BigInteger whole = new BigDecimal(value).setScale(0, MODES.get(mode)).toBigInteger();
        return whole.max(low).min(high).longValue() & -1L >>> 64 - bits;
    }

    @Test
    void floatsToIntegers() {
        for (int i = 0; i < 10000; i++) {
            double value = switch (operands.below(3)) {
                case 0 -> operands.nextDouble();
                case 1 -> operands.nextFloat();
                default -> operands.nextLong() / 8.0;
            };
            if (value != value) {
                continue;
            }
            for (Rounding mode : MODES.keySet()) {
                for (int bits : WIDTHS) {
                    for (boolean signed : new boolean[] {false, true}) {
                        assertEquals(expected(value, mode, bits, signed),
                                IntegerConversions.toInteger(value, mode, bits, signed, true),
                                () -> value + " " + mode + " " + bits + " " + signed);
                    }
                }
                float single = (float) value;
                assertEquals((int) expected(single, mode, 32, true), IntegerConversions.toS32(single, mode));
                assertEquals((int) expected(single, mode, 32, false), IntegerConversions.toU32(single, mode));
            }
        }
        assertEquals(0, IntegerConversions.toInteger(Double.NaN, Rounding.TOWARD_ZERO, 32, true, false));
        assertEquals(0x80000000L, IntegerConversions.toInteger(Double.NaN, Rounding.TOWARD_ZERO, 32, true, true));
        assertEquals(Long.MIN_VALUE, IntegerConversions.toInteger(Double.NaN, Rounding.TOWARD_ZERO, 64, false,
                false));
        assertEquals(0, IntegerConversions.toS32(Float.NaN, Rounding.UP));
    }

    @Test
    void integersToFloats() {
        for (int i = 0; i < 5000; i++) {
            long value = operands.nextLong();
            BigDecimal signed = new BigDecimal(value);
            BigDecimal unsigned = new BigDecimal(new BigInteger(Long.toUnsignedString(value)));
            for (Rounding mode : MODES.keySet()) {
                assertEquals(ExactReference.round(signed, 0, ExactReference.Shape.SINGLE, mode) + 0.0,
                        IntegerConversions.singleOfSigned(value, mode), () -> value + " " + mode);
                assertEquals(ExactReference.round(unsigned, 0, ExactReference.Shape.SINGLE, mode) + 0.0,
                        IntegerConversions.singleOfUnsigned(value, mode), () -> value + " " + mode);
                assertEquals(ExactReference.round(signed, 0, ExactReference.Shape.DOUBLE, mode) + 0.0,
                        IntegerConversions.doubleOfSigned(value, mode), () -> value + " " + mode);
                assertEquals(ExactReference.round(unsigned, 0, ExactReference.Shape.DOUBLE, mode) + 0.0,
                        IntegerConversions.doubleOfUnsigned(value, mode), () -> value + " " + mode);
            }
        }
    }

    @Test
    void doublesToSinglesAndHalves() {
        for (int i = 0; i < 5000; i++) {
            double value = operands.nextDouble();
            if (!Double.isFinite(value)) {
                continue;
            }
            BigDecimal exact = new BigDecimal(value);
            for (Rounding mode : MODES.keySet()) {
                assertTrue(ExactReference.round(exact, 0, ExactReference.Shape.SINGLE, mode) == FloatConversions.toSingle(value, mode),
                        () -> value + " " + mode);
                assertTrue(
                        ExactReference.round(exact, 0, ExactReference.Shape.HALF, mode) == HalfArithmetic
                                .toSingle(FloatConversions.doubleToHalf(value, mode)),
                        () -> value + " " + mode);
                assertTrue(
                        ExactReference.round(exact, 0, ExactReference.Shape.BRAIN, mode) == BrainArithmetic
                                .toSingle(FloatConversions.doubleToBrain(value, mode)),
                        () -> value + " " + mode);
            }
        }
    }

    @Test
    void integersToIntegers() {
        assertEquals(-1, IntegerConversions.toInteger(0xff, 8, true, 64, true, false));
        assertEquals(0xff, IntegerConversions.toInteger(0xff, 8, false, 64, true, false));
        assertEquals(0x34, IntegerConversions.toInteger(0x1234, 16, false, 8, false, false));
        assertEquals(127, IntegerConversions.toInteger(0x1234, 16, true, 8, true, true));
        assertEquals(-128, IntegerConversions.toInteger(0xffff8000L, 32, true, 8, true, true));
        assertEquals(0, IntegerConversions.toInteger(0xffff8000L, 32, true, 8, false, true));
        assertEquals(255, IntegerConversions.toInteger(0xffff8000L, 32, false, 8, false, true));
        assertEquals(Integer.MAX_VALUE, IntegerConversions.toInteger(-1, 64, false, 32, true, true));
    }

    /** PTX ISA: 2 units for ex2, 2^-22 for lg2 around 1, 2^-20.5 for sin and cos within pi, 2^-11 for tanh. */
    @Test
    void approximationsStayWithinTheDocumentedErrors() {
        for (int i = 0; i < 20000; i++) {
            float a = operands.nextFloat();
            if (Math.abs(a) <= Math.PI) {
                assertTrue(Math.abs(Approximations.sin(a) - StrictMath.sin(a)) < 0x1p-20);
                assertTrue(Math.abs(Approximations.cos(a) - StrictMath.cos(a)) < 0x1p-20);
            }
            if (Math.abs(a) < 120) {
                double power = StrictMath.pow(2, a);
                assertTrue(Math.abs(Approximations.ex2(a) - power) <= 2 * Math.ulp((float) power));
            }
            if (a > 0 && a < Float.POSITIVE_INFINITY) {
                double logarithm = StrictMath.log(a) / StrictMath.log(2);
                assertTrue(Math.abs(Approximations.lg2(a) - logarithm) <= Math.max(0x1p-22,
                        2 * Math.ulp((float) logarithm)));
                assertEquals(1 / StrictMath.sqrt(a), Approximations.rsqrt(a), 2 * Math.ulp(Approximations.rsqrt(a)));
            }
            assertTrue(a != a || Math.abs(Approximations.tanh(a) - StrictMath.tanh(a)) <= 0x1p-11 * Math.abs(
                    StrictMath.tanh(a)));
        }
        assertEquals(Float.NEGATIVE_INFINITY, Approximations.lg2(-0f));
        assertEquals(Float.NEGATIVE_INFINITY, Approximations.rsqrt(-0f));
        assertEquals(0f, Approximations.ex2(Float.NEGATIVE_INFINITY));
        assertEquals(8f, Approximations.ex2(3f));
        assertEquals(3f, Approximations.lg2(8f));
        assertEquals(0f, Approximations.divApprox(5f, 0x1p127f));
        assertEquals(0x7fffffff, Float.floatToRawIntBits(Approximations.divApprox(Float.POSITIVE_INFINITY, 0x1p127f)));
        assertEquals(-0f, Approximations.divApprox(5f, Float.NEGATIVE_INFINITY));
        assertEquals(0.25, Approximations.rcpDouble(4), 0x1p-22);
        assertEquals(0, Double.doubleToRawLongBits(Approximations.rcpDouble(3)) & 0xffffffffL);
    }
}
