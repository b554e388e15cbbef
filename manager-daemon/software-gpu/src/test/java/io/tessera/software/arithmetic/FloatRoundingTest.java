package io.tessera.software.arithmetic;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Arithmetic of .f32 and .f64 in every rounding mode, against exact decimals. */
class FloatRoundingTest {
    private static final int CASES = 1500;
    private static final int SLOW_CASES = 250;

    private final Operands operands = new Operands();

    private static BigDecimal exact(double value) {
        return new BigDecimal(value);
    }

    private static void check(double expected, double actual, String what) {
        // Exact zeros have a rule of their own, checked apart.
        if (expected == 0 && actual == 0) {
            return;
        }
        assertEquals(Double.doubleToLongBits(expected), Double.doubleToLongBits(actual),
                () -> what + ": expected " + Double.toHexString(expected) + ", got " + Double.toHexString(actual)
                        + ", seed " + Operands.SEED);
    }

    private static boolean finite(double... values) {
        for (double value : values) {
            if (!Double.isFinite(value)) {
                return false;
            }
        }
        return true;
    }

    @ParameterizedTest
    @EnumSource(names = {"NEAREST_EVEN", "TOWARD_ZERO", "DOWN", "UP"})
    void single(Rounding mode) {
        ExactReference.Shape shape = ExactReference.Shape.SINGLE;
        for (int i = 0; i < CASES; i++) {
            float a = operands.nextFloat();
            float b = operands.nextFloat();
            float c = operands.nextFloat();
            if (!finite(a, b, c)) {
                continue;
            }
            String what = mode + " " + Float.toHexString(a) + " " + Float.toHexString(b) + " " + Float.toHexString(c);
            check(ExactReference.round(exact(a).add(exact(b)), 0, shape, mode), SingleArithmetic.add(a, b, mode),
                    "add " + what);
            check(ExactReference.round(exact(a).subtract(exact(b)), 0, shape, mode),
                    SingleArithmetic.sub(a, b, mode), "sub " + what);
            check(ExactReference.round(exact(a).multiply(exact(b)), 0, shape, mode),
                    SingleArithmetic.mul(a, b, mode), "mul " + what);
            check(ExactReference.round(exact(a).multiply(exact(b)).add(exact(c)), 0, shape, mode),
                    SingleArithmetic.fma(a, b, c, mode), "fma " + what);
        }
        for (int i = 0; i < SLOW_CASES; i++) {
            float a = operands.nextFloat();
            float b = operands.nextFloat();
            if (finite(a, b) && b != 0) {
                check(ExactReference.quotient(a, b, shape, mode), SingleArithmetic.div(a, b, mode),
                        mode + " div " + a + " " + b);
                check(ExactReference.quotient(1, b, shape, mode), SingleArithmetic.rcp(b, mode), mode + " rcp " + b);
                check(ExactReference.root(Math.abs(b), shape, mode), SingleArithmetic.sqrt(Math.abs(b), mode),
                        mode + " sqrt " + b);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"NEAREST_EVEN", "TOWARD_ZERO", "DOWN", "UP"})
    void twice(Rounding mode) {
        ExactReference.Shape shape = ExactReference.Shape.DOUBLE;
        for (int i = 0; i < SLOW_CASES; i++) {
            double a = operands.nextDouble();
            double b = operands.nextDouble();
            double c = operands.nextDouble();
            if (!finite(a, b, c)) {
                continue;
            }
            String what = mode + " " + Double.toHexString(a) + " " + Double.toHexString(b) + " "
                    + Double.toHexString(c);
            check(ExactReference.round(exact(a).add(exact(b)), 0, shape, mode), DoubleArithmetic.add(a, b, mode),
                    "add " + what);
            check(ExactReference.round(exact(a).subtract(exact(b)), 0, shape, mode),
                    DoubleArithmetic.sub(a, b, mode), "sub " + what);
            check(ExactReference.round(exact(a).multiply(exact(b)), 0, shape, mode),
                    DoubleArithmetic.mul(a, b, mode), "mul " + what);
            check(ExactReference.round(exact(a).multiply(exact(b)).add(exact(c)), 0, shape, mode),
                    DoubleArithmetic.fma(a, b, c, mode), "fma " + what);
            if (b != 0 && i % 4 == 0) {
                check(ExactReference.quotient(a, b, shape, mode), DoubleArithmetic.div(a, b, mode), "div " + what);
                check(ExactReference.root(Math.abs(b), shape, mode), DoubleArithmetic.sqrt(Math.abs(b), mode),
                        "sqrt " + what);
            }
        }
    }

    @Test
    void exactZerosAreNegativeOnlyRoundingDown() {
        for (Rounding mode : Rounding.values()) {
            float single = mode == Rounding.DOWN ? -0f : 0f;
            assertEquals(single, SingleArithmetic.add(1.5f, -1.5f, mode), mode.name());
            assertEquals(single, SingleArithmetic.sub(0f, 0f, mode), mode.name());
            assertEquals(single, SingleArithmetic.fma(2f, 3f, -6f, mode), mode.name());
            assertEquals(-0f, SingleArithmetic.add(-0f, -0f, mode), mode.name());
            assertEquals(single, DoubleArithmetic.add(1.5, -1.5, mode), mode.name());
            assertEquals(single, DoubleArithmetic.fma(2, 3, -6, mode), mode.name());
            assertEquals(single, DoubleArithmetic.fma(0, 3, -0.0, mode), mode.name());
            assertEquals(0.0, DoubleArithmetic.fma(0, 3, 0.0, mode), mode.name());
            assertEquals(-0.0, DoubleArithmetic.fma(0, -3, -0.0, mode), mode.name());
        }
    }

    @Test
    void nanIsCanonicalInSingleAndPassesThroughInDouble() {
        float payload = Float.intBitsToFloat(0xffc12345);
        for (Rounding mode : Rounding.values()) {
            assertEquals(0x7fffffff, Float.floatToRawIntBits(SingleArithmetic.add(payload, 1, mode)));
            assertEquals(0x7fffffff, Float.floatToRawIntBits(
                    SingleArithmetic.mul(0, Float.POSITIVE_INFINITY, mode)));
            assertEquals(0x7fffffff, Float.floatToRawIntBits(SingleArithmetic.sqrt(-1, mode)));
            double wide = Double.longBitsToDouble(0x7ff0000000000123L);
            assertEquals(0x7ff8000000000123L, Double.doubleToRawLongBits(DoubleArithmetic.sub(1, wide, mode)));
            assertEquals(0xfff8000000000000L, Double.doubleToRawLongBits(
                    DoubleArithmetic.div(0, 0, mode)));
        }
        assertEquals(0, Float.floatToRawIntBits(SingleArithmetic.saturate(payload)));
        assertEquals(0, Float.floatToRawIntBits(SingleArithmetic.saturate(-0f)));
        assertEquals(1f, SingleArithmetic.saturate(Float.POSITIVE_INFINITY));
        assertEquals(-0f, SingleArithmetic.flush(-Float.MIN_VALUE));
        assertEquals(Float.MIN_NORMAL, SingleArithmetic.flush(Float.MIN_NORMAL));
    }

    @Test
    void flushesWhatOnlyRoundingMadeNormal() {
        float least = Float.MIN_NORMAL;
        float below = Math.nextDown(1f);
        assertEquals(least, SingleArithmetic.mul(least, below));
        assertEquals(0f, SingleArithmetic.flushProduct(least, least, below, Rounding.NEAREST_EVEN));
        assertEquals(-0f, SingleArithmetic.flushProduct(-least, -least, below, Rounding.NEAREST_EVEN));
        assertEquals(least, SingleArithmetic.flushProduct(least, least, 1, Rounding.NEAREST_EVEN));
        // (1 + 7 2^-23) (1 - 14 2^-24) is less than 1 by 196 / 2^48, far less than half an ulp.
        float above = Float.intBitsToFloat(0x00800007);
        float under = Float.intBitsToFloat(0x3f800000 - 14);
        assertEquals(least, SingleArithmetic.flushProduct(least, above, under, Rounding.NEAREST_EVEN));
        assertEquals(least, SingleArithmetic.fma(-0x1p-75f, 0x1p-76f, least));
        assertEquals(least, SingleArithmetic.flushFma(least, -0x1p-75f, 0x1p-76f, least, Rounding.NEAREST_EVEN));
        assertEquals(0f, SingleArithmetic.flushFma(least, -0x1p-75f, 0x1.1p-76f, least, Rounding.NEAREST_EVEN));
        assertEquals(least, SingleArithmetic.flushFma(least, -0x1p-75f, 0x1.1p-76f, least, Rounding.UP));
        assertEquals(least, SingleArithmetic.flushFma(least, 0x1p-75f, 0x1p-76f, least, Rounding.NEAREST_EVEN));
    }

    @Test
    void testsOfClasses() {
        assertTrue(NumberClass.NORMAL.holds(0f) && NumberClass.NORMAL.holds(-0.0), "zeros are normal");
        assertFalse(NumberClass.NORMAL.holds(Float.MIN_VALUE));
        assertFalse(NumberClass.NORMAL.holds(Double.POSITIVE_INFINITY));
        assertFalse(NumberClass.SUBNORMAL.holds(0f));
    }

    @Test
    void minimumAndMaximum() {
        float nan = Float.intBitsToFloat(0x7fc00001);
        assertEquals(-0f, SingleArithmetic.min(0f, -0f));
        assertEquals(0f, SingleArithmetic.max(-0f, 0f));
        assertEquals(2f, SingleArithmetic.min(nan, 2f));
        assertEquals(2f, SingleArithmetic.max(2f, nan));
        assertEquals(0x7fffffff, Float.floatToRawIntBits(SingleArithmetic.min(nan, nan)));
        assertEquals(0x7fffffff, Float.floatToRawIntBits(SingleArithmetic.maxNan(nan, 1)));
        assertEquals(-3f, SingleArithmetic.xorSign(3f, -1f, 2f));
        assertEquals(-2f, SingleArithmetic.copySign(-1f, 2f));
    }
}
