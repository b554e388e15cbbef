package io.tessera.software.kernels;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.tessera.software.fault.FaultKind;
import io.tessera.software.fault.KernelFault;
import io.tessera.software.kernels.TestDevice.Kind;
import io.tessera.software.launch.Dim3;
import io.tessera.software.launch.LaunchOutcome;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Divergence, calls of every kind, locks, and blocks that wait for each other. */
@Timeout(180)
class ControlFlowTest {
    @ParameterizedTest
    @EnumSource
    void nestedLoopsWithEarlyExit(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "control")) {
            int[] in = IntStream.range(1, 201).toArray();
            long out = device.zeros(in.length);
            device.launch("collatz", 2, 128, device.ints(in), out, in.length);
            int[] expected = IntStream.of(in).map(ControlFlowTest::collatz).toArray();
            assertArrayEquals(expected, device.ints(out, in.length));
        }
    }

    private static int collatz(int from) {
        int steps = 0;
        for (long value = from; value != 1; value = value % 2 == 0 ? value / 2 : 3 * value + 1) {
            steps++;
        }
        return steps;
    }

    @ParameterizedTest
    @EnumSource
    void switchGoesEverywhere(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "control")) {
            int[] op = IntStream.range(0, 32).map(i -> i % 9).toArray();
            int[] a = IntStream.range(0, 32).map(i -> i * 7 - 50).toArray();
            long out = device.zeros(32);
            device.launch("choose", 1, 32, device.ints(op), device.ints(a), out);
            int[] expected = IntStream.range(0, 32).map(i -> switch (op[i]) {
                case 0 -> a[i] + 1;
                case 1 -> a[i] * 3;
                case 2 -> a[i] - 7 ^ 0x55;
                case 3 -> 0x55;
                case 4 -> a[i] << 2;
                case 5 -> -a[i];
                case 6 -> a[i] / 3;
                default -> 99;
            }).toArray();
            assertArrayEquals(expected, device.ints(out, 32));
        }
    }

    @ParameterizedTest
    @EnumSource
    void recursion(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "control")) {
            long out = device.zeros(14);
            device.launch("recursion", 1, 14, out);
            assertArrayEquals(new int[] {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233}, device.ints(out, 14));
        }
    }

    @ParameterizedTest
    @EnumSource
    void functionPointers(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "control")) {
            long out = device.zeros(9);
            device.launch("pointers", 1, 9, device.ints(0, 1, 2, 0, 1, 2, 0, 1, 2), out);
            assertArrayEquals(new int[] {5, -4, 5, 8, -1, 5, 11, 2, 8}, device.ints(out, 9));
        }
    }

    @ParameterizedTest
    @EnumSource
    void callOfNoFunction(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "control")) {
            long out = device.zeros(1);
            KernelFault fault = assertThrows(KernelFault.class, () -> device.launch("wildPointer", 1, 1, out, out));
            assertEquals(FaultKind.INVALID_PC, fault.kind());
        }
    }

    @ParameterizedTest
    @EnumSource
    void virtualFunctions(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "control")) {
            long out = device.zeros(8);
            device.launch("virtualCalls", 1, 8, out);
            assertArrayEquals(new int[] {0, 1, 6, 9, 12, 25, 18, 49}, device.ints(out, 8));
        }
    }

    @ParameterizedTest
    @EnumSource
    void lockBetweenThreadsOfAWarpAndBetweenBlocks(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "control")) {
            long lock = device.zeros(1);
            long counter = device.zeros(1);
            device.launch("lockInWarp", 8, 64, lock, counter);
            assertEquals(8 * 64, device.ints(counter, 1)[0]);
        }
    }

    /** More blocks than host threads: those that wait must let others begin. */
    @ParameterizedTest
    @EnumSource
    void blocksWaitForAllOthers(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "control")) {
            long arrived = device.zeros(1);
            device.launch("meet", 24, 64, arrived);
            assertEquals(24, device.ints(arrived, 1)[0]);
        }
    }

    @ParameterizedTest
    @EnumSource
    void gridWideBarriers(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "together")) {
            int n = 6 * 32;
            int rounds = 5;
            int[] start = new int[2 * n];
            int[] expected = new int[n];
            for (int i = 0; i < n; i++) {
                start[i] = i;
                expected[i] = (i + rounds) % n + rounds;
            }
            long data = device.ints(start);
            device.launch("rotate", new Dim3[] {new Dim3(6, 1, 1), new Dim3(32, 1, 1)}, 0, true, data, rounds);
            assertArrayEquals(expected, device.ints(data + 4L * n * (rounds % 2), n));
        }
    }

    @ParameterizedTest
    @EnumSource
    void clustersShareMemory(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "together")) {
            long out = device.zeros(8 * 32);
            device.launch("neighbours", 8, 32, out);
            int[] expected = IntStream.range(0, 8 * 32).map(i -> {
                int block = i / 32;
                return (block / 4 * 4 + (block + 1) % 4) * 100 + 31 - i % 32;
            }).toArray();
            assertArrayEquals(expected, device.ints(out, expected.length));
        }
    }

    @ParameterizedTest
    @EnumSource
    void endlessKernelIsCancelled(Kind kind) throws InterruptedException {
        try (TestDevice device = new TestDevice(kind, "output")) {
            long flag = device.zeros(1);
            Thread canceller = new Thread(() -> {
                try {
                    Thread.sleep(200);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
                device.control.cancel();
            });
            canceller.start();
            assertEquals(LaunchOutcome.CANCELLED, device.launch("endless", 100, 64, flag));
            canceller.join();
        }
    }
}
