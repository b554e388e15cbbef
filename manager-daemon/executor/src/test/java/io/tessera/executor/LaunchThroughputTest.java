package io.tessera.executor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.clock.Clocks;
import io.tessera.device.DriverEntry;
import io.tessera.executor.client.RelayTestClient;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** How many launches go through a ring in a second; a bound far below what is measured, so that a slow host passes. */
@Timeout(300)
class LaunchThroughputTest {
    private static final int LAUNCHES = 2_000_000;
    private static final double LEAST_PER_SECOND = 100_000;

    @TempDir
    Path folder;

    @Test
    void launchesGoThroughTheRing() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0)) {
            executor.driver.recording = false;
            byte[] ptx = "// ptx\0".getBytes(StandardCharsets.US_ASCII);
            assertEquals(0, client.call(DriverEntry.cuModuleLoadDataEx, RelayTestClient.outBytes(8),
                    RelayTestClient.in(ptx), RelayTestClient.value(0), RelayTestClient.value(0),
                    RelayTestClient.value(0)));
            assertEquals(0, client.call(DriverEntry.cuModuleGetFunction, RelayTestClient.outBytes(8),
                    RelayTestClient.value(client.outLong(0)), RelayTestClient.text("empty")));
            long function = client.outLong(0);
            byte[] parameters = new byte[64];
            double best = 0;
            for (int round = 1; round <= 4; round++) {
                long startNs = Clocks.system().monotonic().nanoTime();
                for (int i = 0; i < LAUNCHES / 4; i++) {
                    client.launch(function, 0, parameters);
                }
                client.synchronise(0, 1, 2L * round);
                double seconds = (Clocks.system().monotonic().nanoTime() - startNs) / 1e9;
                best = Math.max(best, LAUNCHES / 4 / seconds);
            }
            System.out.printf("launches through one ring: %.0f a second%n", best);
            assertEquals(LAUNCHES, executor.driver.launches.get());
            assertTrue(best > LEAST_PER_SECOND, best + " launches a second");
        }
    }
}
