package io.tessera.software.kernels;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tessera.software.kernels.TestDevice.Kind;
import io.tessera.software.launch.Dim3;
import io.tessera.software.memory.RealMemory;
import java.util.Random;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Products of matrices by kernels as Triton and CUTLASS make them, {@code gemm.cu}: {@code cp.async} in stages, {@code ldmatrix},
 * {@code mma}, with edges. Factors are small multiples of a power of two, so that every order of adding gives the exact sum.
 */
@Timeout(300)
class MatrixProductTest {
    private static final long SEED = Long.getLong("tessera.test.seed", 4711);
    private static final int TILE = 64;
    private static final Dim3 BLOCK = new Dim3(128, 1, 1);
    /** Two stages of two tiles of 64 x 32 elements, and one more: the kernel uses three buffers in turn. */
    private static final int SHARED_BYTES = 3 * 2 * TILE * 32 * 2;

    /** Multiples of 1/8 between -4 and 4: exact in every 16-bit format. */
    private static float[] factors(Random random, int count) {
        float[] values = new float[count];
        for (int i = 0; i < count; i++) {
            values[i] = (random.nextInt(65) - 32) / 8f;
        }
        return values;
    }

    private static long put(TestDevice device, float[] values, boolean brains) {
        long address = device.zeros((values.length + 1) / 2);
        for (int i = 0; i < values.length; i++) {
            RealMemory.putShort(address + 2L * i, brains ? (short) (Float.floatToRawIntBits(values[i]) >> 16)
                    : Float.floatToFloat16(values[i]));
        }
        return address;
    }

    @ParameterizedTest
    @EnumSource
    void halvesWithEdges(Kind kind) {
        Random random = new Random(SEED);
        try (TestDevice device = new TestDevice(kind, "gemm")) {
            for (int[] size : new int[][] {{64, 64, 32}, {100, 70, 88}, {3, 130, 8}, {65, 1, 200}}) {
                int m = size[0];
                int n = size[1];
                int k = size[2];
                float[] a = factors(random, m * k);
                float[] b = factors(random, n * k);
                long c = device.zeros(m * n);
                device.launch("productOfHalves", new Dim3((n + TILE - 1) / TILE, (m + TILE - 1) / TILE, 1), BLOCK, 0,
                        put(device, a, false), put(device, b, false), c, m, n, k);
                float[] found = device.floats(c, m * n);
                for (int at = 0; at < m * n; at++) {
                    double sum = 0;
                    for (int i = 0; i < k; i++) {
                        sum += (double) a[at / n * k + i] * b[at % n * k + i];
                    }
                    assertEquals((float) sum, found[at], "element " + at + " of " + m + " x " + n + " x " + k + ", seed " + SEED);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void brainsByRowsWithLargerOfZero(Kind kind) {
        Random random = new Random(SEED);
        int m = 128;
        int n = 64;
        int k = 192;
        float[] a = factors(random, m * k);
        float[] b = factors(random, k * n);
        try (TestDevice device = new TestDevice(kind, "gemm")) {
            long c = device.zeros(m * n / 2);
            device.launch("productOfBrains", new Dim3(n / TILE, m / TILE, 1), BLOCK, SHARED_BYTES, put(device, a, true),
                    put(device, b, true), c, m, n, k);
            for (int at = 0; at < m * n; at++) {
                double sum = 0;
                for (int i = 0; i < k; i++) {
                    sum += (double) a[at / n * k + i] * b[i * n + at % n];
                }
                float found = Float.intBitsToFloat(RealMemory.getShort(c + 2L * at) << 16);
                assertEquals(nearestBrain(Math.max(sum, 0)), found, "element " + at + ", seed " + SEED);
            }
        }
    }

    /** The sum is exact in 24 bits; to nearest even among those with 8. */
    private static float nearestBrain(double value) {
        int bits = Float.floatToRawIntBits((float) value);
        return Float.intBitsToFloat(bits + 0x7FFF + (bits >> 16 & 1) & 0xFFFF0000);
    }
}
