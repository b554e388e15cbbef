package io.tessera.executor.fence.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.CudaResult;
import io.tessera.executor.window.WindowAccess;
import io.tessera.guardian.fence.FenceMode;
import io.tessera.protocol.relay.RelaySegment;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.function.IntSupplier;
import org.junit.jupiter.api.Test;

/** Tests when stray writes are searched for, and which clients are notified how often. */
class StrayWriteChecksTest {
    private static final long MS = 1_000_000L;

    private final RelaySegment segment = new RelaySegment(Arena.ofAuto().allocate(RelaySegment.BYTES, 64));
    private final Window window = new Window();
    private List<String> launched = List.of("first", "second");
    private final StrayWriteChecks checks = new StrayWriteChecks(window, () -> launched, segment, FenceMode.MASK);

    /** A window that is all sink. */
    private static final class Window implements WindowAccess {
        boolean backed = true;
        int checks;
        int beside;
        boolean ended;
        StrayWrites found = StrayWrites.NONE;

        @Override
        public boolean checkStrayWrites(long stream, long errorAddress) {
            checks++;
            return true;
        }

        @Override
        public boolean checkStrayWritesBeside(long errorAddress) {
            beside++;
            return true;
        }

        @Override
        public boolean checkStrayWritesNow() {
            checks++;
            return true;
        }

        @Override
        public void launchesNoMore(boolean checked) {
            assertEquals(backed, checked);
            ended = true;
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

    /** A program that works and waits every ms. */
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
        assertTrue(window.ended);
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
        window.found = WindowAccess.StrayWrites.OF_THE_TENANT;
        checks.look();
        assertEquals(1, segment.notices().lines().count(), "once");
        window.found = WindowAccess.StrayWrites.OWN;
        assertEquals(CudaResult.ILLEGAL_ADDRESS, checks.look());
        assertTrue(segment.notices().lines().toList().getLast().startsWith("a kernel of this program wrote"), "an error has its own line");
    }

    @Test
    void aCheckThatWasLeftOutIsMadeUpForOnceTheBudgetAllows() {
        assertFalse(checks.makeUp(MS), "none was left out");
        assertEquals(20, rounds(1, 21));
        assertTrue(checks.isOwed());
        assertFalse(checks.makeUp(22 * MS));
        assertTrue(checks.makeUp(100 * MS));
        assertFalse(checks.isOwed());
        assertEquals(1, window.beside);
        assertFalse(checks.makeUp(200 * MS), "once");
        assertFalse(checks.begin(1, 21 * MS - 1, 300 * MS), "what was waited for then is checked");
        assertTrue(checks.begin(1, 301 * MS, 302 * MS));
    }

    @Test
    void whatIsNotCheckedAtTheEndIsCheckedThen() {
        assertEquals(20, rounds(1, 21));
        window.found = WindowAccess.StrayWrites.OWN;
        assertTrue(checks.finish());
        assertEquals(21, window.checks, "beyond the budget");
        assertFalse(checks.isOwed());
        assertFalse(checks.finish(), "an error ends all checks but the last one");
        assertTrue(segment.notices().startsWith("a kernel of this program"), segment.notices());
    }

    @Test
    void theLineSaysWhatIsKnownAndHelps() {
        launched = List.of();
        window.found = WindowAccess.StrayWrites.OWN;
        checks.look();
        assertEquals("a kernel of this program wrote outside of its memory; --fence check names the kernel and the address where kernels have PTX,"
                + " compute-sanitizer finds the kernel of a program that runs by itself", segment.notices().strip());
        RelaySegment other = new RelaySegment(Arena.ofAuto().allocate(RelaySegment.BYTES, 64));
        window.found = WindowAccess.StrayWrites.OWN;
        new StrayWriteChecks(window, () -> List.of("only"), other, FenceMode.CHECK).look();
        assertEquals("a kernel of this program wrote outside of its memory; the last launches were: only;"
                + " compute-sanitizer finds the kernel of a program that runs by itself", other.notices().strip());
    }
}
