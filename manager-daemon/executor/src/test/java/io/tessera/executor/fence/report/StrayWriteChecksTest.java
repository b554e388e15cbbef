package io.tessera.executor.fence.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.CudaResult;
import io.tessera.executor.window.WindowAccess;
import io.tessera.protocol.relay.RelaySegment;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.function.IntSupplier;
import org.junit.jupiter.api.Test;

/** When stray writes are looked for, and who hears of them how often. */
class StrayWriteChecksTest {
    private static final long MS = 1_000_000L;

    private final RelaySegment segment = new RelaySegment(Arena.ofAuto().allocate(RelaySegment.BYTES, 64));
    private final Window window = new Window();
    private final StrayWriteChecks checks = new StrayWriteChecks(window, () -> List.of("first", "second"), segment);

    /** A window that is all sink. */
    private static final class Window implements WindowAccess {
        boolean backed = true;
        int checks;
        StrayWrites found = StrayWrites.NONE;

        @Override
        public boolean checkStrayWrites(long stream, long errorAddress) {
            checks++;
            return true;
        }

        @Override
        public void checkLastStrayWrites() {
            checks++;
        }

        @Override
        public StrayWrites strayWrites() {
            StrayWrites now = found;
            found = StrayWrites.NONE;
            return now;
        }

        @Override
        public boolean isBacked() {
            return backed;
        }

        @Override
        public long baseAddress() {
            return 0;
        }

        @Override
        public long sizeBytes() {
            return 0;
        }

        @Override
        public long guardBytes() {
            return 0;
        }

        @Override
        public boolean contains(long address, long bytes) {
            return false;
        }

        @Override
        public boolean isAnothers(long address) {
            return false;
        }

        @Override
        public long allocate(long bytes, long alignment) {
            return 0;
        }

        @Override
        public void free(long address) {
            throw new IllegalStateException("nothing was allocated");
        }

        @Override
        public int backEverywhere() {
            return CudaResult.SUCCESS;
        }

        @Override
        public int whenQuiet(IntSupplier change) {
            return change.getAsInt();
        }
    }

    /** Of a program that works and waits every ms. */
    private int rounds(int from, int count) {
        int begun = 0;
        for (int i = from; i < from + count; i++) {
            begun += checks.begin(1, i * MS - 1, i * MS) ? 1 : 0;
        }
        return begun;
    }

    @Test
    void theFirstComeAtOnceAndThenOneInFiftyMilliseconds() {
        assertEquals(20, rounds(1, 20));
        assertEquals(19, rounds(21, 980), "one in 50 ms of what followed the first");
        assertEquals(20, rounds(10_000, 20), "time in which nobody waited is saved");
    }

    @Test
    void whoDidNothingSinceIsNotChecked() {
        assertTrue(checks.begin(1, 5, 100 * MS));
        assertFalse(checks.begin(1, 5, 200 * MS));
        assertTrue(checks.begin(1, 6, 300 * MS));
        assertEquals(2, window.checks);
        checks.end();
        assertEquals(3, window.checks, "the last work, which nobody waited for");
        window.backed = false;
        assertFalse(checks.begin(1, 8, 400 * MS));
        checks.end();
        assertEquals(3, window.checks, "kernels without fences end their context instead");
    }

    @Test
    void itsOwnWriteIsTheErrorOfADriverAndSaidOnce() {
        assertEquals(CudaResult.SUCCESS, checks.look());
        window.found = WindowAccess.StrayWrites.OWN;
        assertEquals(CudaResult.ILLEGAL_ADDRESS, checks.look());
        assertEquals(CudaResult.ILLEGAL_ADDRESS, checks.look(), "sticky");
        assertTrue(segment.notices().startsWith("a kernel of this program wrote outside of its memory; the last launches were: first, second; "),
                segment.notices());
        window.found = WindowAccess.StrayWrites.OWN;
        checks.look();
        assertEquals(1, segment.notices().lines().count());
        assertFalse(checks.begin(1, 9, 900 * MS), "there is nothing left to find out");
    }

    @Test
    void whatMayBeAnothersIsNoError() {
        window.found = WindowAccess.StrayWrites.OF_THE_TENANT;
        assertEquals(CudaResult.SUCCESS, checks.look());
        assertTrue(segment.notices().contains("or of another one with its --name"), segment.notices());
        assertTrue(checks.begin(1, 9, 900 * MS));
    }
}
