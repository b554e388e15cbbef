package io.tessera.executor.call;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.CudaResult;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

/** Launches of more blocks than a GPU ends in time. */
class GridBoundTest {
    private static void let(int... extents) {
        assertDoesNotThrow(() -> GridBound.check(MemorySegment.ofArray(extents), 0));
    }

    private static void refused(int... extents) {
        RejectedException refusal = assertThrows(RejectedException.class, () -> GridBound.check(MemorySegment.ofArray(extents), 0));
        assertEquals(CudaResult.INVALID_VALUE, refusal.result());
        assertTrue(refusal.isTold() && refusal.getMessage().endsWith(GridBound.REMEDY), refusal.getMessage());
    }

    @Test
    void upTo() {
        let(Integer.MAX_VALUE, 1, 1, 64, 1, 1);
        let(32768, 65535, 1, 32, 1, 1);
        let(1 << 27, 1, 1, 1024, 1, 1);
        let(1, 1, 1, 1, 1, 1);
        let(0, -1, -1, 1024, 1, 1);
        let(-1, -1, 0, 0, 0, 0);
    }

    @Test
    void andNoMore() {
        refused(Integer.MAX_VALUE, 65535, 65535, 1, 1, 1);
        refused(-1, -1, -1, -1, -1, -1);
        refused(65537, 32768, 1, 32, 1, 1);
        refused((1 << 27) + 1, 1, 1, 1024, 1, 1);
        refused(1 << 27, 1, 1, 32, 8, 5);
        refused(1 << 16, 1 << 15, 2, 0, 0, 0);
    }
}
