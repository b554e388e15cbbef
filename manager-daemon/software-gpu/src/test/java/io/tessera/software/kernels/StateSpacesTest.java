package io.tessera.software.kernels;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.software.fault.FaultKind;
import io.tessera.software.fault.KernelFault;
import io.tessera.software.kernels.TestDevice.Kind;
import io.tessera.software.launch.Dim3;
import io.tessera.software.memory.RealMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** State spaces, generic addresses, atomics under load, faults. */
@Timeout(180)
class StateSpacesTest {
    private static final int[] TABLE = {3, 1, 4, 1, 5, 9, 2, 6};

    @ParameterizedTest
    @EnumSource
    void everySpaceThroughGenericPointers(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "memory")) {
            long out = device.zeros(96);
            device.launch("spaces", new Dim3(1, 1, 1), new Dim3(32, 1, 1), 128, out);
            int[] expected = new int[96];
            for (int t = 0; t < 32; t++) {
                int[] local = new int[16];
                for (int i = 0; i < 16; i++) {
                    local[(i * 5 + t) % 16] = i + t;
                }
                int value = switch (t % 4) {
                    case 0 -> (31 - t) * 2;
                    case 1 -> (31 - t) * 3;
                    case 2 -> local[t % 16];
                    default -> 40;
                };
                expected[t] = value + TABLE[t % 8];
                expected[32 + t] = 30;
                expected[64 + t] = t % 4 < 2 ? 1 : t % 4 == 2 ? 4 : 2;
            }
            assertArrayEquals(expected, device.ints(out, 96));
        }
    }

    @ParameterizedTest
    @EnumSource
    void atomicsFromManyBlocks(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "memory")) {
            int n = 40 * 64;
            long ints = device.ints(0, -5, 5, 0, -1, 0, 0);
            long wraps = device.zeros(2);
            long singles = device.zeros(1);
            long doubles = device.doubles(0.0);
            long longs = device.doubles(0.0, 0.0, 0.0);
            device.launch("atomics", 40, 64, ints, wraps, singles, doubles, longs);
            int xor = IntStream.range(0, n).reduce(0, (a, b) -> a ^ b);
            assertArrayEquals(new int[] {n * (n - 1) / 2, n - 1, 1 - n, 0x7fffffff, ~7, xor, -n},
                    device.ints(ints, 7));
            assertEquals(n % 7, device.ints(wraps, 1)[0]);
            assertEquals((5 - n % 5) % 5, device.ints(wraps, 2)[1]);
            assertEquals(n, device.floats(singles, 1)[0]);
            assertEquals(n * 0.5, device.doubles(doubles, 1)[0]);
            assertEquals((long) n << 33, RealMemory.getLong(longs));
            assertEquals((long) (n - 1) << 40, RealMemory.getLong(longs + 8));
            assertEquals(3L * n, RealMemory.getLong(longs + 16));
        }
    }

    @ParameterizedTest
    @EnumSource
    void asynchronousCopies(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "memory")) {
            int threads = 64;
            float[] in = new float[2 * threads * 4];
            for (int i = 0; i < in.length; i++) {
                in[i] = i;
            }
            float[] expected = new float[2 * threads];
            for (int i = 0; i < expected.length; i++) {
                int source = i / threads * threads + threads - 1 - i % threads;
                expected[i] = 16f * source + 6;
            }
            long out = device.zeros(expected.length);
            device.launch("asynchronous", 2, threads, device.floats(in), out);
            assertArrayEquals(expected, device.floats(out, expected.length));
        }
    }

    @ParameterizedTest
    @EnumSource
    void outOfBoundsStoreNamesKernelThreadAndAddress(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "memory")) {
            long base = device.zeros(100);
            KernelFault fault = assertThrows(KernelFault.class, () -> device.launch("storeAt", 3, 32, base, 1L << 30));
            assertEquals(FaultKind.ILLEGAL_ADDRESS, fault.kind());
            assertEquals(base + (4L << 30), fault.address());
            assertEquals("storeAt", fault.kernel());
            assertEquals(new Dim3(7, 0, 0), fault.thread());
            assertTrue(fault.getMessage().contains("0x" + Long.toHexString(fault.address())), fault.getMessage());
        }
    }

    @ParameterizedTest
    @EnumSource
    void freedAndNullAndMisalignedAddresses(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "memory")) {
            long out = device.zeros(1);
            long freed = device.zeros(1000);
            assertTrue(device.processor.memory().free(freed));
            for (long address : new long[] {0, freed, -8, 1L << 40, Long.MIN_VALUE}) {
                KernelFault fault = assertThrows(KernelFault.class, () -> device.launch("loadAt", 1, 1, address, out));
                assertEquals(FaultKind.ILLEGAL_ADDRESS, fault.kind());
                assertEquals(address, fault.address());
            }
            KernelFault fault = assertThrows(KernelFault.class, () -> device.launch("loadAt", 1, 1, out + 2, out));
            assertEquals(FaultKind.MISALIGNED_ADDRESS, fault.kind());
        }
    }

    @ParameterizedTest
    @EnumSource
    void sharedMemoryHasBounds(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "memory")) {
            long out = device.zeros(32);
            device.launch("sharedAt", 1, 32, 31, out);
            assertEquals(1, device.ints(out, 1)[0]);
            for (int index : new int[] {32, -1, 1 << 20}) {
                KernelFault fault = assertThrows(KernelFault.class, () -> device.launch("sharedAt", 1, 32, index, out));
                assertEquals(FaultKind.ILLEGAL_ADDRESS, fault.kind());
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void structuresByValue(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "memory")) {
            ByteBuffer wide = ByteBuffer.allocate(32).order(ByteOrder.LITTLE_ENDIAN);
            wide.putDouble(0.25).putInt(1).putInt(2).putInt(3).putInt(4).putInt(5).put((byte) 7);
            long out = device.doubles(new double[6]);
            device.launch("byValue", 1, 6, wide.array(), (byte) 9, out);
            double[] expected = new double[6];
            for (int t = 0; t < 6; t++) {
                expected[t] = 16.25;
                for (int i = 0; i < 5; i++) {
                    expected[t] += ((t + i) % 5 + 1) * (i + 1);
                }
            }
            assertArrayEquals(expected, device.doubles(out, 6));
        }
    }

    @ParameterizedTest
    @EnumSource
    void registeredHostMemoryIsReached(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "memory");
                java.lang.foreign.Arena arena = java.lang.foreign.Arena.ofConfined()) {
            java.lang.foreign.MemorySegment host = arena.allocate(4096, 4096);
            long out = device.zeros(1);
            host.setAtIndex(java.lang.foreign.ValueLayout.JAVA_INT, 5, 4711);
            assertThrows(KernelFault.class, () -> device.launch("loadAt", 1, 1, host.address() + 20, out));
            device.processor.memory().registerHost(host.address(), 4096);
            device.launch("loadAt", 1, 1, host.address() + 20, out);
            assertEquals(4711, device.ints(out, 1)[0]);
            assertTrue(device.processor.memory().unregisterHost(host.address()));
            assertThrows(KernelFault.class, () -> device.launch("loadAt", 1, 1, host.address() + 20, out));
        }
    }

    @ParameterizedTest
    @EnumSource
    void heapInKernels(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "memory")) {
            long keep = device.doubles(new double[8]);
            device.launch("heap", 1, 8, keep);
            for (int t = 0; t < 8; t += 2) {
                long piece = RealMemory.getLong(keep + 8L * t);
                assertEquals(t, RealMemory.getInt(piece + 12));
            }
        }
    }
}
