package io.tessera.executor.fence;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.protocol.WireTypes;
import io.tessera.protocol.relay.RelayLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

class FewBlockModulesTest {
    private static final int PROCESSORS = 10;

    private static boolean fits(int blocks, int threads) {
        MemorySegment record = Arena.ofAuto().allocate(RelayLayout.RECORD_MAX, Long.BYTES);
        record.set(WireTypes.U32, LaunchPlan.GRID, blocks);
        record.set(WireTypes.U32, LaunchPlan.GRID + 4, 1);
        record.set(WireTypes.U32, LaunchPlan.GRID + 8, 1);
        record.set(WireTypes.U32, LaunchPlan.GRID + 12, threads);
        record.set(WireTypes.U32, LaunchPlan.GRID + 16, 1);
        record.set(WireTypes.U32, LaunchPlan.GRID + 20, 1);
        return FewBlockModules.fits(new LaunchPlan(record, record), PROCESSORS);
    }

    @Test
    void blocksFitWhileAProcessorHasRegistersForThem() {
        assertTrue(fits(20, 256));
        assertFalse(fits(21, 256));
        assertTrue(fits(10, 512));
        assertFalse(fits(10, 513));
        assertFalse(fits(10, 0));
    }

    @Test
    void aWarpHasTheRegistersOfAllItsThreads() {
        assertTrue(fits(160, 1));
        assertFalse(fits(161, 1)); // 16 warps on a processor
        assertTrue(fits(80, 33));
        assertFalse(fits(81, 33));
        assertFalse(fits(20, 257));
    }
}
