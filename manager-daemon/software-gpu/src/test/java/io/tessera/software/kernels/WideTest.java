package io.tessera.software.kernels;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tessera.software.kernels.TestDevice.Kind;
import io.tessera.software.memory.RealMemory;
import java.math.BigInteger;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Long chains of carries, fp8, and the stack. */
@Timeout(180)
class WideTest {
    private static final long SEED = 17;

    private static void put(long address, BigInteger value) {
        RealMemory.putLong(address, value.longValue());
        RealMemory.putLong(address + 8, value.shiftRight(64).longValue());
    }

    private static BigInteger get(long address) {
        return BigInteger.valueOf(RealMemory.getLong(address + 8)).shiftLeft(64)
                .or(new BigInteger(Long.toUnsignedString(RealMemory.getLong(address))));
    }

    @ParameterizedTest
    @EnumSource
    void integersOf128Bits(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "wide")) {
            int n = 64;
            Random random = new Random(SEED);
            long a = device.doubles(new double[2 * n]);
            long b = device.doubles(new double[2 * n]);
            long out = device.doubles(new double[4 * n]);
            for (int i = 0; i < n; i++) {
                put(a + 16L * i, new BigInteger(1 + random.nextInt(126), random).subtract(BigInteger.TWO.pow(60)));
                put(b + 16L * i, new BigInteger(1 + random.nextInt(126), random).setBit(0));
            }
            device.launch("divide", 1, n, a, b, out);
            for (int i = 0; i < n; i++) {
                BigInteger x = get(a + 16L * i);
                BigInteger y = get(b + 16L * i);
                String what = x + " and " + y + ", seed " + SEED;
                assertEquals(x.divide(y), get(out + 32L * i), what);
                BigInteger product = x.multiply(y);
                assertEquals(product.longValue(), RealMemory.getLong(out + 32L * i + 16), what);
                assertEquals(product.shiftRight(64).longValue(), RealMemory.getLong(out + 32L * i + 24), what);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void floatsOf8Bits(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "wide")) {
            long out = device.zeros(8);
            device.launch("eighths", 1, 8, device.floats(0.1f, -3.3f, 500, 1e9f, 0.0019f, -0.01f, 17, 1.0625f), out);
            assertArrayEquals(new float[] {0.1015625f, -3.25f, 448, 448, 0.001953125f, -0.009765625f, 16, 1},
                    device.floats(out, 8));
        }
    }

    @ParameterizedTest
    @EnumSource
    void allocaOfUnknownSize(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "wide")) {
            long out = device.zeros(40);
            device.launch("onTheStack", 1, 40, 10, out);
            assertArrayEquals(IntStream.range(0, 40).map(i -> 45 * i).toArray(), device.ints(out, 40));
        }
    }
}
