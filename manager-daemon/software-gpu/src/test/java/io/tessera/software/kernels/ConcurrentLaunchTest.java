package io.tessera.software.kernels;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.tessera.software.fault.FaultKind;
import io.tessera.software.fault.KernelFault;
import io.tessera.software.kernels.TestDevice.Kind;
import io.tessera.software.launch.Dim3;
import io.tessera.software.launch.LaunchRefusedException.Reason;
import io.tessera.software.launch.LaunchRefusedException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Launches side by side, launches that fault beside others, and launches that are refused. */
@Timeout(180)
class ConcurrentLaunchTest {
    @ParameterizedTest
    @EnumSource
    void aFaultStaysInItsGrid(Kind kind) throws Exception {
        try (TestDevice device = new TestDevice(kind, "control");
                ExecutorService callers = Executors.newFixedThreadPool(4)) {
            int[] in = new int[512];
            for (int i = 0; i < in.length; i++) {
                in[i] = 1 << i % 20;
            }
            long shared = device.ints(in);
            List<Future<int[]>> results = new ArrayList<>();
            List<Future<FaultKind>> faults = new ArrayList<>();
            for (int i = 0; i < 12; i++) {
                results.add(callers.submit(() -> {
                    long out = device.zeros(in.length);
                    device.launch("collatz", 16, 32, shared, out, in.length);
                    return device.ints(out, in.length);
                }));
                faults.add(callers.submit(() -> assertThrows(KernelFault.class,
                        () -> device.launch("wildPointer", 16, 32, 5L, shared)).kind()));
            }
            int[] expected = new int[in.length];
            for (int i = 0; i < in.length; i++) {
                expected[i] = i % 20;
            }
            for (int i = 0; i < 12; i++) {
                assertArrayEquals(expected, results.get(i).get());
                assertEquals(FaultKind.INVALID_PC, faults.get(i).get());
            }
        }
    }

    /** Two grids that wait for each other's blocks would need both: each of these waits only for its own. */
    @ParameterizedTest
    @EnumSource
    void waitingGridsShareTheWorkers(Kind kind) throws Exception {
        try (TestDevice device = new TestDevice(kind, "control");
                ExecutorService callers = Executors.newFixedThreadPool(3)) {
            List<Future<Integer>> arrivals = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                arrivals.add(callers.submit(() -> {
                    long arrived = device.zeros(1);
                    device.launch("meet", 12, 32, arrived);
                    return device.ints(arrived, 1)[0];
                }));
            }
            for (Future<Integer> arrived : arrivals) {
                assertEquals(12, arrived.get());
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void impossibleLaunchesAreRefused(Kind kind) {
        try (TestDevice device = new TestDevice(kind, "together")) {
            long data = device.zeros(1);
            refused(Reason.INVALID_VALUE, () -> device.launch("rotate", 0, 32, data, 1));
            refused(Reason.INVALID_VALUE, () -> device.launch("rotate", 1, 1025, data, 1));
            refused(Reason.OUT_OF_RESOURCES, () -> device.launch("rotate", new Dim3(1, 1, 1), new Dim3(32, 1, 1),
                    228 << 10, data, 1));
            refused(Reason.COOPERATIVE_TOO_LARGE, () -> device.launch("rotate",
                    new Dim3[] {new Dim3(1000, 1, 1), new Dim3(1024, 1, 1)}, 0, true, data, 1));
            refused(Reason.INVALID_CLUSTER, () -> device.launch("neighbours", 6, 32, data));
        }
    }

    private static void refused(Reason reason, Runnable launch) {
        assertEquals(reason, assertThrows(LaunchRefusedException.class, launch::run).reason());
    }
}
