package io.tessera.software.kernels;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tessera.software.kernels.TestDevice.Kind;
import io.tessera.software.launch.Dim3;
import java.util.Random;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Kernels that programs are made of: elementwise, reductions, scan, histogram, matrix product. */
@Timeout(180)
class DataParallelTest {
    private static final long SEED = 7;

    private static int[] random(int count, int bound) {
        return new Random(SEED).ints(count, 0, bound).toArray();
    }

    @ParameterizedTest
    @EnumSource
    void vectorsAreAdded(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "vectors")) {
            int n = 1000;
            float[] a = new float[n];
            float[] b = new float[n];
            float[] sum = new float[n];
            for (int i = 0; i < n; i++) {
                a[i] = i * 0.5f;
                b[i] = 1000 - i;
                sum[i] = a[i] + b[i];
            }
            long c = device.zeros(n + 24);
            device.launch("addVectors", 4, 256, device.floats(a), device.floats(b), c, n);
            assertArrayEquals(sum, device.floats(c, n));
            assertArrayEquals(new int[24], device.ints(c + 4L * n, 24), "beyond the end");
        }
    }

    @ParameterizedTest
    @EnumSource
    void gridStrideLoop(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "vectors")) {
            double[] x = new Random(SEED).doubles(777).toArray();
            double[] expected = new double[x.length];
            for (int i = 0; i < x.length; i++) {
                expected[i] = Math.fma(2.5, x[i], x[i]);
            }
            long y = device.doubles(x);
            device.launch("axpy", 3, 64, 2.5, device.doubles(x), y, (long) x.length);
            assertArrayEquals(expected, device.doubles(y, x.length));
        }
    }

    @ParameterizedTest
    @EnumSource
    void everyThreadKnowsItsPlace(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "vectors")) {
            long out = device.zeros(24 * 60);
            device.launch("coordinates", new Dim3(2, 3, 4), new Dim3(5, 4, 3), 0, out);
            int[] expected = new int[24 * 60];
            for (int i = 0; i < expected.length; i++) {
                expected[i] = i / 60 * 1000 + i % 60;
            }
            assertArrayEquals(expected, device.ints(out, expected.length));
        }
    }

    @ParameterizedTest
    @EnumSource
    void sumByShuffles(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "sums")) {
            int[] in = random(10_000, 1000);
            long out = device.zeros(1);
            device.launch("sum", 7, 256, device.ints(in), out, in.length);
            assertEquals(java.util.Arrays.stream(in).sum(), device.ints(out, 1)[0]);
        }
    }

    @ParameterizedTest
    @EnumSource
    void scanInDynamicSharedMemory(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "sums")) {
            int threads = 128;
            int[] in = random(3 * threads, 100);
            long out = device.zeros(in.length);
            device.launch("scan", new Dim3(3, 1, 1), new Dim3(threads, 1, 1), 2 * threads * 4, device.ints(in), out);
            int[] expected = in.clone();
            for (int i = 0; i < in.length; i++) {
                expected[i] += i % threads == 0 ? 0 : expected[i - 1];
            }
            assertArrayEquals(expected, device.ints(out, in.length));
        }
    }

    @ParameterizedTest
    @EnumSource
    void histogramBySharedAtomics(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "sums")) {
            int[] words = random(2500, Integer.MAX_VALUE);
            int[] expected = new int[256];
            for (int word : words) {
                for (int shift = 0; shift < 32; shift += 8) {
                    expected[word >>> shift & 255]++;
                }
            }
            long bins = device.zeros(256);
            device.launch("histogram", 5, 96, device.ints(words), bins, words.length * 4);
            assertArrayEquals(expected, device.ints(bins, 256));
        }
    }

    @ParameterizedTest
    @EnumSource
    void tiledMatrixProduct(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "sums")) {
            int n = 48;
            Random random = new Random(SEED);
            float[] a = new float[n * n];
            float[] b = new float[n * n];
            for (int i = 0; i < n * n; i++) {
                a[i] = random.nextFloat();
                b[i] = random.nextFloat();
            }
            float[] expected = new float[n * n];
            for (int row = 0; row < n; row++) {
                for (int column = 0; column < n; column++) {
                    float sum = 0;
                    for (int k = 0; k < n; k++) {
                        sum = Math.fma(a[row * n + k], b[k * n + column], sum);
                    }
                    expected[row * n + column] = sum;
                }
            }
            long c = device.zeros(n * n);
            device.launch("multiply", new Dim3(3, 3, 1), new Dim3(16, 16, 1), 0, device.floats(a), device.floats(b),
                    c, n);
            assertArrayEquals(expected, device.floats(c, n * n));
        }
    }
}
