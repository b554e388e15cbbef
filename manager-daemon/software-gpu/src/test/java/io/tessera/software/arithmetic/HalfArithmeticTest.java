package io.tessera.software.arithmetic;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import org.junit.jupiter.api.Test;

/** .f16, .bf16, and the 8-bit formats: against exact decimals, and over all bit patterns where there are few. */
class HalfArithmeticTest {
    private static final int CASES = 3000;

    private final Operands operands = new Operands();

    private interface Type {
        float value(int bits);

        int add(int a, int b);

        int mul(int a, int b);

        int fma(int a, int b, int c);
    }

    private static final Type HALF = new Type() {
        @Override
        public float value(int bits) {
            return HalfArithmetic.toSingle(bits);
        }

        @Override
        public int add(int a, int b) {
            return HalfArithmetic.add(a, b);
        }

        @Override
        public int mul(int a, int b) {
            return HalfArithmetic.mul(a, b);
        }

        @Override
        public int fma(int a, int b, int c) {
            return HalfArithmetic.fma(a, b, c);
        }
    };

    private static final Type BRAIN = new Type() {
        @Override
        public float value(int bits) {
            return BrainArithmetic.toSingle(bits);
        }

        @Override
        public int add(int a, int b) {
            return BrainArithmetic.add(a, b);
        }

        @Override
        public int mul(int a, int b) {
            return BrainArithmetic.mul(a, b);
        }

        @Override
        public int fma(int a, int b, int c) {
            return BrainArithmetic.fma(a, b, c);
        }
    };

    private void check(Type type, ExactReference.Shape shape, boolean close) {
        for (int i = 0; i < CASES; i++) {
            int a = operands.nextInt() & 0xffff;
            int b = close ? a ^ operands.below(0x3ff) : operands.nextInt() & 0xffff;
            int c = operands.nextInt() & 0xffff;
            float x = type.value(a);
            float y = type.value(b);
            float z = type.value(c);
            if (!Float.isFinite(x) || !Float.isFinite(y) || !Float.isFinite(z)) {
                continue;
            }
            BigDecimal p = new BigDecimal(x);
            BigDecimal q = new BigDecimal(y);
            BigDecimal product = p.multiply(q);
            String what = Integer.toHexString(a) + " " + Integer.toHexString(b) + " " + Integer.toHexString(c);
            same(p.add(q), shape, type.value(type.add(a, b)), "add " + what);
            same(product, shape, type.value(type.mul(a, b)), "mul " + what);
            same(product.add(new BigDecimal(z)), shape, type.value(type.fma(a, b, c)), "fma " + what);
        }
    }

    private static void same(BigDecimal exact, ExactReference.Shape shape, float actual, String what) {
        double expected = ExactReference.round(exact, 0, shape, Rounding.NEAREST_EVEN);
        assertTrue(expected == actual, () -> what + ": expected " + expected + ", got " + actual + ", seed "
                + Operands.SEED);
    }

    @Test
    void halves() {
        check(HALF, ExactReference.Shape.HALF, false);
        check(HALF, ExactReference.Shape.HALF, true);
    }

    @Test
    void brains() {
        check(BRAIN, ExactReference.Shape.BRAIN, false);
        check(BRAIN, ExactReference.Shape.BRAIN, true);
    }

    @Test
    void everyPatternOfTheSmallFormatsSurvivesARoundTrip() {
        for (BinaryFormat format : new BinaryFormat[] {BinaryFormat.E4M3, BinaryFormat.E5M2, BinaryFormat.F16,
                BinaryFormat.BF16}) {
            int patterns = format == BinaryFormat.F16 || format == BinaryFormat.BF16 ? 1 << 16 : 1 << 8;
            for (int bits = 0; bits < patterns; bits++) {
                double value = format.decode(bits);
                long expected = Double.isNaN(value) ? format.canonicalNan() : bits;
                for (Rounding mode : Rounding.values()) {
                    assertEquals(expected, format.encode(value, mode), format + " " + Integer.toHexString(bits));
                }
            }
        }
        assertEquals(448, BinaryFormat.E4M3.decode(0x7e));
        assertEquals(57344, BinaryFormat.E5M2.decode(0x7b));
        assertEquals(0x1p-9, BinaryFormat.E4M3.decode(1));
    }

    @Test
    void generalEncoderAgreesWithJava() {
        for (int i = 0; i < 20000; i++) {
            float value = operands.nextFloat();
            double wide = operands.nextDouble();
            if (value == value) {
                assertEquals(Float.floatToFloat16(value) & 0xffff,
                        BinaryFormat.F16.encode(value, Rounding.NEAREST_EVEN), () -> Float.toHexString(value));
                assertEquals(BrainArithmetic.ofSingle(value), BinaryFormat.BF16.encode(value,
                        Rounding.NEAREST_EVEN), () -> Float.toHexString(value));
            }
            if (wide == wide) {
                assertEquals(Float.floatToRawIntBits((float) wide) & 0xffffffffL,
                        BinaryFormat.F32.encode(wide, Rounding.NEAREST_EVEN), () -> Double.toHexString(wide));
            }
        }
    }

    @Test
    void specialValues() {
        assertEquals(0x7fff, HalfArithmetic.add(0x7c00, 0xfc00));
        assertEquals(0x7fff, HalfArithmetic.fma(0x7c00, 0, 0x3c00));
        assertEquals(0x7fff, HalfArithmetic.neg(0x7e01));
        assertEquals(0x8000, HalfArithmetic.min(0, 0x8000));
        assertEquals(0x3c00, HalfArithmetic.max(0x7e00, 0x3c00));
        assertEquals(0x7fff, HalfArithmetic.maxNan(0x7e00, 0x3c00));
        assertEquals(0, HalfArithmetic.saturate(0x7e00));
        assertEquals(0, HalfArithmetic.saturate(0xbc00));
        assertEquals(0x3c00, HalfArithmetic.saturate(0x7c00));
        assertEquals(0, HalfArithmetic.relu(0x8001));
        assertEquals(0x7fff, HalfArithmetic.relu(0xfe00));
        assertEquals(0x8000, HalfArithmetic.flush(0x83ff));
        assertEquals(0x8400, HalfArithmetic.mul(0x8400, 0x3bff));
        assertEquals(0x8000, HalfArithmetic.flushProduct(0x8400, 0x8400, 0x3bff));
        assertEquals(0x8400, HalfArithmetic.flushProduct(0x8400, 0x8400, 0x3c00));
        assertEquals(0x4400_4200, PackedArithmetic.map(HalfArithmetic::add, 0x4000_3c00, 0x4000_4000));
    }

    @Test
    void conversionsWithSaturation() {
        assertEquals(0x7e, FloatConversions.toFinite(BinaryFormat.E4M3, 1e9f, Rounding.NEAREST_EVEN));
        assertEquals(0xfb, FloatConversions.toFinite(BinaryFormat.E5M2, Float.NEGATIVE_INFINITY,
                Rounding.NEAREST_EVEN));
        assertEquals(0x7f, FloatConversions.toFinite(BinaryFormat.E4M3, Float.NaN, Rounding.NEAREST_EVEN));
        assertEquals(0x7e38, FloatConversions.toBytePair(BinaryFormat.E4M3, 500f, 1f));
        assertEquals(0x3c00_5f00, FloatConversions.bytePairToHalves(BinaryFormat.E4M3, 0x387e));
        assertEquals(Float.floatToRawIntBits(1f + 0x1p-10f),
                FloatConversions.singleToTf32(1f + 0x1p-11f, Rounding.NEAREST_AWAY));
        assertEquals(Float.floatToRawIntBits(1f), FloatConversions.singleToTf32(1f + 0x1p-11f,
                Rounding.NEAREST_EVEN));
        assertEquals(0x7bff, FloatConversions.singleToHalf(1e6f, Rounding.TOWARD_ZERO));
        assertEquals(0x7c00, FloatConversions.singleToHalf(1e6f, Rounding.NEAREST_EVEN));
    }
}
