package io.tessera.manager;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.tessera.manager.memory.SimulatedSwapClient;
import io.tessera.protocol.segment.SegmentHeader;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Processes are suspended in the quicker way, with checkpoints whose duration the test chooses. */
@Timeout(180)
class SuspensionStepTest extends ResidencyScenario {
    private static final String SUSPEND = "{\"request\":\"evict\",\"tenant\":\"idle\",\"suspend\":true}";
    private SimulatedSwapClient idle;
    private int asked;

    @BeforeEach
    void anIdleTenant() throws Exception {
        start(UnaryOperator.identity());
        idle = client(42, "idle", 30 * GIB);
        until("it works", () -> idle.worked > 3);
        idle.busy = false;
    }

    private void untilAsked(String action) throws Exception {
        asked++;
        until("the driver is asked to " + action, () -> stepped.checkpoints.begun.size() == asked);
        assertEquals(action + " 42", stepped.checkpoints.begun.getLast());
    }

    /** Completes the driver's action after this time. */
    private void done(long ms) throws Exception {
        for (long i = 0; i < ms; i += 5) {
            step();
        }
        stepped.checkpoints.end(Optional.empty(), stepped.clock.nowNs());
    }

    private void suspend() throws Exception {
        assertEquals("{\"ok\":true,\"clients\":1}\n", say(SUSPEND));
    }

    private String way() throws Exception {
        return residency(0).get("suspension").getAsString();
    }

    private void suspendAndBack(long suspendMs, long restoreMs) throws Exception {
        suspend();
        untilAsked("SUSPEND");
        done(suspendMs);
        idle.frozen = true;
        idle.busy = true;
        stepped.clock.advanceMs(5);
        idle.peer.block(0).wantSinceNs(stepped.clock.nowNs());
        idle.peer.ring(0);
        untilAsked("RESTORE");
        done(restoreMs);
        idle.frozen = false;
        int before = idle.worked;
        until("it works again", () -> idle.worked > before);
        assertFalse(residency(0).has("suspension"));
        idle.busy = false;
        step();
    }

    @Test
    void theQuickerWayIsTakenAndSaid() throws Exception {
        suspend();
        assertTrue(way().startsWith("by swap first: no checkpoint"), way());
        untilAsked("SUSPEND");
        assertEquals(0, idle.words().residentBytes());
        done(200);
        idle.busy = true;
        untilAsked("RESTORE");
        done(200);
        int before = idle.worked;
        until("it works again", () -> idle.worked > before);
        idle.busy = false;
        suspendAndBack(300, 300);
        suspend();
        assertTrue(way().startsWith("by checkpoint alone: 30.00 GiB out and back take "), way());
        untilAsked("SUSPEND");
        assertEquals(30 * GIB, idle.words().residentBytes(), "the driver takes it as it stands");
    }

    private void checkpointAlone() throws Exception {
        suspendAndBack(200, 200);
        suspend();
        assertTrue(way().startsWith("by checkpoint alone, to measure it"), way());
        untilAsked("SUSPEND");
        done(300);
        idle.frozen = true;
        assertEquals("suspended", residency(0).get("state").getAsString());
    }

    @Test
    void whatTheDriverTookIsRoomForOthersAndComesBackInItsTurn() throws Exception {
        checkpointAlone();
        SimulatedSwapClient other = client(2, "b", 38 * GIB);
        until("the other has the device", () -> other.worked > 100);
        idle.busy = true;
        idle.peer.block(0).wantSinceNs(stepped.clock.nowNs());
        idle.peer.ring(0);
        untilAsked("RESTORE");
        assertTrue(other.words().residentBytes() <= 10 * GIB, "there is room before the driver is asked");
        done(400);
        idle.frozen = false;
        int before = idle.worked;
        until("it works again", () -> idle.worked > before + 10);
        int others = other.worked;
        until("both work in turns", () -> other.worked > others + 10);
    }

    @Test
    void restoredByHandWhileAnotherWorks() throws Exception {
        checkpointAlone();
        SimulatedSwapClient other = client(2, "b", 38 * GIB);
        until("the other has the device", () -> other.worked > 100);
        idle.busy = false;
        assertEquals("{\"ok\":true,\"clients\":1}\n", say("{\"request\":\"restore\",\"tenant\":\"idle\"}"));
        untilAsked("RESTORE");
        stepped.checkpoints.end(Optional.of("no memory"), stepped.clock.nowNs());
        untilAsked("RESTORE");
        done(400);
        idle.frozen = false;
        int others = other.worked;
        until("the other works on", () -> other.worked > others + 10);
        idle.busy = true;
        int before = idle.worked;
        until("it works again", () -> idle.worked > before + 10);
    }

    @Test
    void whoCallsBeforeTheDriverIsAskedStays() throws Exception {
        suspendAndBack(200, 200);
        SimulatedSwapClient slow = idle;
        slow.busy = true;
        int before = slow.worked;
        suspend();
        until("it works on", () -> slow.worked > before + 10);
        assertEquals(asked, stepped.checkpoints.begun.size());
        assertFalse(residency(0).has("suspension"));
    }

    @Test
    void whatTheDriverCannotTakeIsEvicted() throws Exception {
        suspendAndBack(200, 200);
        suspend();
        untilAsked("SUSPEND");
        stepped.checkpoints.end(Optional.of("exit code 3"), stepped.clock.nowNs());
        until("it is out", () -> idle.words().residentBytes() == 0);
        idle.busy = true;
        int before = idle.worked;
        until("it works again", () -> idle.worked > before);
    }

    private SegmentHeader header() {
        return new SegmentHeader(idle.peer.segment());
    }

    @Test
    void whoSharesMemoryIsEvicted() throws Exception {
        header().clientShares(SegmentHeader.SHARES_GIVEN);
        JsonObject answer = JsonParser.parseString(say(SUSPEND)).getAsJsonObject();
        String why = answer.getAsJsonArray("notSuspended").get(0).getAsString();
        assertTrue(why.startsWith("process 42: other processes may have its memory"), why);
        assertEquals(1, answer.get("clients").getAsInt());
        until("it is out", () -> idle.words().residentBytes() == 0);
        assertTrue(stepped.checkpoints.begun.isEmpty());
        assertTrue(residency(0).get("notSuspended").getAsString().startsWith("other processes"));
        idle.busy = true;
        int before = idle.worked;
        until("it works again", () -> idle.worked > before);
        assertFalse(residency(0).has("notSuspended"));
    }

    /** Its call began after the manager had asked it to leave, and before it saw that it was to be suspended. */
    @Test
    void whoBeginsToShareWhileItLeavesStays() throws Exception {
        suspend();
        header().clientShares(SegmentHeader.SHARES_CALL);
        until("it is out", () -> idle.words().residentBytes() == 0);
        for (int i = 0; i < 100 && !residency(0).has("notSuspended"); i++) {
            step();
        }
        assertTrue(stepped.checkpoints.begun.isEmpty());
        assertEquals("it is about to share memory with other processes", residency(0).get("notSuspended").getAsString());
        header().clientShares(0);
        suspend();
        untilAsked("SUSPEND");
        assertFalse(residency(0).has("notSuspended"));
    }

    /** The checkpoint alone was chosen, and then the process got memory that no checkpoint restores. */
    @Test
    void whoTakesOthersMemoryBeforeTheDriverIsAskedMovesOutNextTime() throws Exception {
        suspendAndBack(200, 200);
        suspend();
        assertTrue(way().startsWith("by checkpoint alone"), way());
        header().clientShares(SegmentHeader.SHARES_PIECES);
        until("it is out", () -> idle.words().residentBytes() == 0);
        assertEquals("physical memory of others came to it just now", residency(0).get("notSuspended").getAsString());
        assertEquals(asked, stepped.checkpoints.begun.size(), "the driver was not asked");
        idle.busy = true;
        int before = idle.worked;
        until("it works again", () -> idle.worked > before);
        idle.busy = false;
        suspend();
        assertEquals("by swap first: physical memory of others came to it", way());
        untilAsked("SUSPEND");
    }
}
