package io.tessera.software.kernels;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tessera.software.kernels.TestDevice.Kind;
import java.util.Random;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Half precision, and CUDA's mathematical functions, which are long PTX. */
@Timeout(180)
class HalfAndFunctionsTest {
    private static float half(float value) {
        return Float.float16ToFloat(Float.floatToFloat16(value));
    }

    private static int pack(float low, float high) {
        return Float.floatToFloat16(low) & 0xFFFF | Float.floatToFloat16(high) << 16;
    }

    @ParameterizedTest
    @EnumSource
    void pairsOfHalves(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "halves")) {
            int n = 16;
            int[] a = new int[n];
            int[] b = new int[n];
            float total = 0;
            for (int i = 0; i < n; i++) {
                a[i] = pack(i * 0.5f + 1, 2 - i);
                b[i] = pack(0.125f * i, i - 4);
                total += i * 0.5f + 1;
            }
            int[] start = new int[n + 1];
            long out = device.ints(start);
            long sums = device.zeros(n);
            device.launch("halves", 1, n, device.ints(a), device.ints(b), out, sums);
            int[] result = device.ints(out, n + 1);
            for (int i = 0; i < n; i++) {
                float low = half(i * 0.5f + 1 + 0.125f * i);
                float expected = half(low * (i * 0.5f + 1) + Math.max(0.125f * i, 0.25f));
                assertEquals(expected, Float.float16ToFloat((short) result[i]), "element " + i);
                float quotient = half(low / (2 - i));
                assertEquals(quotient, device.floats(sums, n)[i], Math.abs(quotient) * 0x1p-10f + 0x1p-24f);
            }
            assertEquals(total, Float.float16ToFloat((short) result[n]));
        }
    }

    @ParameterizedTest
    @EnumSource
    void brains(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "halves")) {
            int[] a = new int[8];
            for (int i = 0; i < 16; i++) {
                a[i / 2] |= (Float.floatToRawIntBits(i - 5) >>> 16) << i % 2 * 16;
            }
            long out = device.zeros(16);
            device.launch("brains", 1, 16, device.ints(a), out);
            for (int i = 0; i < 16; i++) {
                assertEquals((i - 5) * 2.5f, device.floats(out, 16)[i]);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void singlePrecisionFunctions(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "halves")) {
            int n = 64;
            Random random = new Random(3);
            float[] in = new float[n];
            for (int i = 0; i < n; i++) {
                in[i] = (float) (random.nextGaussian() * (i % 8 == 0 ? 1e5 : 3));
            }
            long out = device.zeros(2 * n);
            device.launch("functions", 1, n, device.floats(in), out);
            float[] result = device.floats(out, 2 * n);
            for (int i = 0; i < n; i++) {
                double x = in[i];
                double first = Math.sin(x) + Math.exp(-x * x) * Math.sqrt(Math.abs(x))
                        + Math.log(1 + Math.abs(x)) / (1 + x * x) + Math.pow(Math.abs(x), 1.5);
                assertEquals(first, result[i], Math.abs(first) * 1e-5 + 1e-5, "x = " + x);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void doublePrecisionFunctions(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "halves")) {
            int n = 64;
            double[] in = new Random(5).doubles(n, -20, 20).toArray();
            long out = device.doubles(new double[n]);
            device.launch("doubles", 1, n, device.doubles(in), out);
            double[] result = device.doubles(out, n);
            for (int i = 0; i < n; i++) {
                double x = in[i];
                double expected = Math.sin(x) + Math.exp(-x) / (1 + x * x) + Math.sqrt(Math.abs(x)) + Math.cbrt(x)
                        + x % 0.7 + Math.rint(x * 3);
                assertEquals(expected, result[i], Math.abs(expected) * 1e-13 + 1e-13, "x = " + x);
            }
        }
    }
}
