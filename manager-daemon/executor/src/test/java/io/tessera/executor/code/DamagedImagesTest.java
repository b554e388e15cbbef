package io.tessera.executor.code;

import static io.tessera.executor.client.RelayTestClient.in;
import static io.tessera.executor.client.RelayTestClient.outBytes;
import static io.tessera.executor.client.RelayTestClient.value;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.RunningExecutor;
import io.tessera.executor.client.RelayTestClient;
import io.tessera.guardian.machine.CodeWords;
import io.tessera.guardian.machine.CubinBuilder;
import io.tessera.executor.fence.program.TrustedImages;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Damaged machine code never reaches a driver, which it may end, whatever the policy lets run. */
@Timeout(180)
class DamagedImagesTest {
    private static final byte[] CODE = CubinBuilder.of("plain", new CodeWords().load(12, 2).exit()).build();

    @TempDir
    Path folder;

    private static int load(RelayTestClient client, byte[] image) {
        return client.call(DriverEntry.cuModuleLoadDataEx, outBytes(8), in(image), value(0), value(0), value(0));
    }

    @Test
    void theDriverNeverSeesThem() throws Exception {
        try (RunningExecutor executor = RunningExecutor.ofMachineCode(folder, TrustedImages.none(), 8L << 30);
                RelayTestClient client = executor.client("a", 0)) {
            assertEquals(0, load(client, CODE));
            executor.driver.calls.clear();
            int damaged = 0;
            for (int at = 16; at < CODE.length; at += 3) {
                byte[] other = CODE.clone();
                Arrays.fill(other, at, Math.min(at + 4, CODE.length), (byte) 0xff);
                int result = load(client, other);
                assertTrue(result == 0 || result == CudaResult.INVALID_IMAGE || result == CudaResult.NO_BINARY_FOR_GPU, at + ": " + result);
                damaged += result == CudaResult.INVALID_IMAGE ? 1 : 0;
            }
            for (int bytes = 4; bytes < CODE.length / 2; bytes += 7) {
                assertEquals(CudaResult.INVALID_IMAGE, load(client, Arrays.copyOf(Arrays.copyOf(CODE, bytes), CODE.length)),
                        bytes + " bytes, then zeros");
            }
            assertTrue(damaged > 10, damaged + " of them");
            assertTrue(client.segment().notices().contains(" is damaged, so no driver is to load it: "), client.segment().notices());
        }
    }
}
