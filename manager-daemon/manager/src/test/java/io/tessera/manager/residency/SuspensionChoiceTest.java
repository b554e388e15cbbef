package io.tessera.manager.residency;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.manager.residency.Checkpoints.Action;
import io.tessera.manager.residency.SuspensionChoice.Chosen;
import io.tessera.manager.residency.SuspensionChoice.Way;
import io.tessera.memory.residency.MoveRates;
import org.junit.jupiter.api.Test;

/** Swap and checkpoint, or the checkpoint alone, chosen by measurements. */
class SuspensionChoiceTest {
    private static final long GIB = 1L << 30;
    private static final long SECOND = 1_000_000_000L;

    /** A second for each 8 GiB, in either direction. */
    private static final MoveRates RATES = new MoveRates(8.0 * GIB, 8.0 * GIB);

    private final SuspensionChoice choice = new SuspensionChoice();

    private Chosen choose(long contentBytes) {
        return choice.choose(contentBytes, 0, RATES, 100 * GIB, false);
    }

    private void measured(long bytes, long ns) {
        choice.measured(Action.SUSPEND, bytes, ns);
        choice.measured(Action.RESTORE, bytes, ns);
    }

    @Test
    void swapFirstUntilACheckpointWorkedThenTheCheckpointOnceThenTheQuicker() {
        assertEquals(Way.SWAP_FIRST, choose(16 * GIB).way());
        choice.measured(Action.SUSPEND, 0, SECOND / 2);
        assertEquals(Way.SWAP_FIRST, choose(16 * GIB).way(), "it has not come back yet");
        choice.measured(Action.RESTORE, 0, SECOND / 2);
        Chosen first = choose(16 * GIB);
        assertEquals(new Chosen(Way.CHECKPOINT, "by checkpoint alone, to measure it: 16.00 GiB by swap first take 5.00 s "
                + "out and back"), first);
        measured(16 * GIB, SECOND * 9 / 2); // 4 s for 16 GiB beyond the fixed cost
        assertEquals(new Chosen(Way.SWAP_FIRST, "by swap first: 16.00 GiB out and back take 5.00 s by swap first, 9.00 s "
                + "by checkpoint alone"), choose(16 * GIB));
        for (int i = 0; i < 20; i++) {
            measured(16 * GIB, SECOND); // a newer driver
        }
        Chosen then = choose(16 * GIB);
        assertEquals(Way.CHECKPOINT, then.way(), then::reason);
    }

    @Test
    void theOtherWayIsMeasuredAnewNowAndThen() {
        measured(0, SECOND);
        measured(16 * GIB, 20 * SECOND);
        int checkpoints = 0;
        for (int i = 0; i < 10 * (SuspensionChoice.TRY_OTHER_AFTER + 1); i++) {
            Chosen chosen = choose(16 * GIB);
            if (chosen.way() == Way.CHECKPOINT) {
                assertTrue(chosen.reason().startsWith("by checkpoint alone, to measure it again: "), chosen::reason);
                checkpoints++;
            }
        }
        assertEquals(10, checkpoints);
    }

    @Test
    void littleToMoveOrNoRoomOnTheHostLeavesNoChoice() {
        measured(0, SECOND);
        measured(16 * GIB, SECOND);
        assertEquals(Way.SWAP_FIRST, choose(1 << 20).way());
        assertEquals(Way.CHECKPOINT, choice.choose(16 * GIB, 0, RATES, 16 * GIB, false).way());
        assertEquals(new Chosen(Way.SWAP_FIRST, "by swap first: physical memory of others came to it"),
                choice.choose(16 * GIB, 0, RATES, 16 * GIB, true));
        Chosen full = choice.choose(16 * GIB, GIB, RATES, 16 * GIB, false);
        assertEquals(new Chosen(Way.SWAP_FIRST, "by swap first: the host has room for 16.00 GiB outside of its pinned "
                + "memory"), full);
    }

    /** Memory that swap cannot move costs a checkpoint either way. */
    @Test
    void whatOnlyACheckpointTakesCountsOnBothSides() {
        measured(0, 0);
        measured(8 * GIB, SECOND * 5 / 4); // both ways 2.5 s for 8 GiB; swap 2 s
        assertTrue(choice.choose(8 * GIB, 8 * GIB, RATES, 100 * GIB, false).reason()
                .endsWith("8.00 GiB out and back take 4.50 s by swap first, 5.00 s by checkpoint alone"));
    }
}
