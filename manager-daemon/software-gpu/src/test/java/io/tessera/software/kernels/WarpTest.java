package io.tessera.software.kernels;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.tessera.software.fault.FaultKind;
import io.tessera.software.fault.KernelFault;
import io.tessera.software.kernels.TestDevice.Kind;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Shuffles, votes, matches and barriers, with all lanes and with some. */
@Timeout(180)
class WarpTest {
    private static void assertLanes(IntUnaryOperator expected, int[] all, int from) {
        assertArrayEquals(IntStream.range(0, 32).map(expected).toArray(),
                java.util.Arrays.copyOfRange(all, from, from + 32));
    }

    @ParameterizedTest
    @EnumSource
    void shuffles(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "warps")) {
            long out = device.zeros(224);
            device.launch("shuffles", 1, 32, out);
            int[] all = device.ints(out, 224);
            assertLanes(lane -> lane >= 3 ? lane - 3 : lane, all, 0);
            assertLanes(lane -> lane + 5 < 32 ? lane + 5 : lane, all, 32);
            assertLanes(lane -> lane ^ 9, all, 64);
            assertLanes(lane -> 70, all, 96);
            assertLanes(lane -> lane % 8 >= 2 ? lane - 2 : lane, all, 128);
            assertLanes(lane -> lane % 4 + 3 < 4 ? lane + 3 : lane, all, 160);
            assertLanes(lane -> lane / 16 * 16 + 1, all, 192);
        }
    }

    @ParameterizedTest
    @EnumSource
    void partialMasks(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "warps")) {
            long out = device.zeros(32);
            device.launch("partialMasks", 1, 32, out);
            assertLanes(lane -> switch (lane % 3) {
                case 0 -> 18;
                case 1 -> 0x92490000;
                default -> 29;
            }, device.ints(out, 32), 0);
        }
    }

    @ParameterizedTest
    @EnumSource
    void votes(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "warps")) {
            long out = device.zeros(192);
            device.launch("votes", 1, 32, out);
            int[] all = device.ints(out, 192);
            assertLanes(lane -> 0xaaaaaaaa, all, 0);
            assertLanes(lane -> 1 | 4, all, 32);
            assertLanes(lane -> 0xF << lane / 4 * 4, all, 64);
            assertLanes(lane -> 0, all, 96);
            assertLanes(lane -> lane >= 8 ? 0xffffff00 : 0, all, 128);
            assertLanes(lane -> 32, all, 160);
        }
    }

    @ParameterizedTest
    @EnumSource
    void exitedThreadsAreNotWaitedFor(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "warps")) {
            long out = device.zeros(32);
            device.launch("earlyExit", 1, 32, out);
            assertLanes(lane -> lane < 20 ? lane ^ 1 : 0, device.ints(out, 32), 0);
        }
    }

    @ParameterizedTest
    @EnumSource
    void barriersReduce(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "warps")) {
            long out = device.zeros(200);
            device.launch("countAtBarrier", 1, 100, out);
            int[] expected = IntStream.range(0, 200).map(i -> i < 100 ? 34 : 1).toArray();
            assertArrayEquals(expected, device.ints(out, 200));
        }
    }

    @ParameterizedTest
    @EnumSource
    void namedBarriers(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "warps")) {
            long out = device.zeros(256);
            device.launch("producers", 1, 128, out);
            int[] expected = IntStream.range(0, 256).map(i -> i / 64 * 100 + 63 - i % 64).toArray();
            assertArrayEquals(expected, device.ints(out, 256));
        }
    }

    /** On a GPU this hangs; here the device detects that no thread can continue. */
    @ParameterizedTest
    @EnumSource
    void threadsThatWaitForEachOther(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "warps")) {
            long out = device.zeros(32);
            KernelFault fault = assertThrows(KernelFault.class, () -> device.launch("mismatch", 1, 32, out));
            assertEquals(FaultKind.DEADLOCK, fault.kind());
        }
    }

    @ParameterizedTest
    @EnumSource
    void cooperativeGroupTiles(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "together")) {
            long out = device.zeros(128);
            device.launch("tiles", 1, 64, out);
            int[] expected = IntStream.range(0, 128).map(i -> i < 64 ? i / 8 * 64 + 28 : 1).toArray();
            assertArrayEquals(expected, device.ints(out, 128));
        }
    }

    @ParameterizedTest
    @EnumSource
    void memoryBarriers(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "together")) {
            long out = device.zeros(192);
            device.launch("phases", 1, 64, out);
            int[] expected = IntStream.range(0, 192).map(i -> i / 64 + (i % 64 + 17) % 64).toArray();
            assertArrayEquals(expected, device.ints(out, 192));
        }
    }
}
