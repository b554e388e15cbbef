package io.tessera.executor.fence.program;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.CudaResult;
import org.junit.jupiter.api.Test;

/** Tests the bound on the local memory of a kernel. */
class LocalQuotaTest {
    private static final LocalQuota H200 = new LocalQuota(132 * 2048, 150_000_000_000L);

    @Test
    void aQuarterOfTheDeviceForAllThreadsThatItRunsAtOnce() {
        assertEquals(138_716, H200.mostBytes());
        assertDoesNotThrow(() -> H200.check("k", 138_716));
        ProgramRefusedException refused = assertThrows(ProgramRefusedException.class, () -> H200.check("deep", 400_000));
        assertEquals(CudaResult.OUT_OF_MEMORY, refused.result());
        assertTrue(refused.getMessage().contains("kernel deep has 400000 bytes of local memory for each thread, 103125 MiB"), refused.getMessage());
        assertTrue(refused.isToTell() && refused.getMessage().endsWith("; keep less in arrays of a thread, or run the program with --share time"),
                refused.getMessage());
    }

    @Test
    void smallDevicesRunWhatTheStackMayBe() {
        assertEquals(LocalQuota.LEAST_BYTES, new LocalQuota(4096, 256 << 20).mostBytes());
        assertEquals(LocalQuota.LEAST_BYTES, new LocalQuota(0, 0).mostBytes());
        assertDoesNotThrow(() -> new LocalQuota(0, 0).check("k", -1));
    }
}
