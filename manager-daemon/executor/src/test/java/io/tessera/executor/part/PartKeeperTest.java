package io.tessera.executor.part;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.clock.Clocks;
import io.tessera.policy.TenantClass;
import io.tessera.policy.TenantTerms;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Clients come, work and go, and the others hear of it. */
class PartKeeperTest {
    private final PartKeeper keeper = new PartKeeper(ProcessorParts.none(), Clocks.system().monotonic());

    @AfterEach
    void close() {
        keeper.close();
    }

    private static void await(BooleanSupplier condition) throws InterruptedException {
        for (int i = 0; i < 2000 && !condition.getAsBoolean(); i++) {
            Thread.sleep(5);
        }
        assertTrue(condition.getAsBoolean());
    }

    @Test
    void whoIsGoneIsBesideNobody() throws InterruptedException {
        ClientPart stays = keeper.join("stays");
        ClientPart goes = keeper.join("goes");
        goes.busy(() -> true);
        await(stays::isBesideOthers);
        goes.leave();
        await(() -> !stays.isBesideOthers());
    }

    @Test
    void twoClientsOfATenantAreNotOthers() throws InterruptedException {
        ClientPart first = keeper.join("one");
        ClientPart second = keeper.join("one");
        ClientPart other = keeper.join("other");
        second.busy(() -> true);
        await(other::isBesideOthers);
        assertFalse(first.isBesideOthers());
        second.leave();
        second.leave();
        await(() -> !other.isBesideOthers());
    }

    @Test
    void aReplayableClientLearnsOfInteractiveWork() throws InterruptedException {
        ClientPart batch = keeper.join("batch");
        ClientPart interactive = keeper.join("interactive");
        keeper.terms("batch", TenantTerms.DEFAULT.withReplayable(true));
        await(batch::isReplayable);
        batch.busy(() -> true);
        batch.running(1);
        interactive.busy(() -> true);
        await(interactive::isBesideOthers);
        assertFalse(batch.isAwaitedByInteractive(), "its class is not set yet");
        keeper.terms("interactive", TenantTerms.DEFAULT.withClass(TenantClass.INTERACTIVE));
        await(batch::isAwaitedByInteractive);
        await(batch::isToStop);
        assertFalse(interactive.isAwaitedByInteractive() || interactive.isToStop() || interactive.isReplayable());
        batch.runningNoMore();
        await(() -> !batch.isToStop());
        interactive.leave();
        await(() -> !batch.isAwaitedByInteractive());
        keeper.terms("batch", TenantTerms.DEFAULT);
        await(() -> !batch.isReplayable());
    }

    @Test
    void whereProcessorsAreNotDividedAllRunOnAll() throws InterruptedException {
        ClientPart interactive = keeper.join("interactive");
        keeper.terms("interactive", TenantTerms.DEFAULT.withClass(TenantClass.INTERACTIVE));
        ClientPart other = keeper.join("other");
        interactive.busy(() -> true);
        other.busy(() -> true);
        await(other::isBesideOthers);
        assertEquals(ProcessorParts.WHOLE, other.part());
        assertEquals(0, keeper.processors());
    }
}
