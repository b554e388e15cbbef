package io.tessera.executor;

import static io.tessera.executor.client.RelayTestClient.await;
import static io.tessera.executor.client.RelayTestClient.outBytes;
import static io.tessera.executor.client.RelayTestClient.value;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.tessera.device.DriverEntry;
import io.tessera.executor.client.RelayTestClient;
import io.tessera.executor.turn.TurnUse;
import io.tessera.policy.PolicyName;
import io.tessera.policy.TenantTerms;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A tenant's work waits for its turn, and nothing else does. The clock runs slowly, so that no bound on time passes meanwhile. */
@Timeout(300)
class SpaceTurnsTest {
    private static final TenantTerms HEAVY = TenantTerms.DEFAULT.withWeight(3);
    private static final int MANY = 1_000;

    @TempDir
    Path folder;

    private RunningExecutor executor;
    private RelayTestClient holder;
    private RelayTestClient other;
    private long written;
    private long unwritten;

    @BeforeEach
    void open() throws Exception {
        executor = RunningExecutor.patient(folder);
        executor.driver.recording = false;
        holder = executor.client("holder", 0);
        other = executor.client("other", 0);
        written = allocate(holder);
        unwritten = allocate(other);
    }

    @AfterEach
    void close() {
        executor.driver.release();
        holder.close();
        other.close();
        executor.close();
    }

    private static long allocate(RelayTestClient client) {
        assertEquals(0, client.call(DriverEntry.cuMemAlloc_v2, outBytes(8), value(4096)));
        return client.outLong(0);
    }

    private static void submit(RelayTestClient client, long address, int what) {
        client.post(DriverEntry.cuMemsetD8Async, value(address), value(what), value(64), value(0));
    }

    private boolean isWritten(long address, int what) {
        return executor.driver.pages.getLong(address) == what * 0x0101_0101_0101_0101L;
    }

    /** The holder has work on the device that does not end, and the turn. */
    private void holderWorks() {
        Set<Long> before = executor.driver.made("stream");
        submit(holder, written, 1);
        await(() -> isWritten(written, 1), "the holder's work");
        executor.driver.heldStreams.addAll(executor.driver.made("stream"));
        executor.driver.heldStreams.removeAll(before);
        submit(holder, written, 2);
        await(() -> isWritten(written, 2), "work that does not end");
    }

    private void otherIsHeld() {
        submit(other, unwritten, 3);
        await(() -> executor.gate().held() == 1, "the other is held back");
        assertFalse(isWritten(unwritten, 3));
    }

    @Test
    void equalTenantsRunAtOnce() {
        holderWorks();
        submit(other, unwritten, 3);
        await(() -> isWritten(unwritten, 3), "nothing is held back");
        assertFalse(executor.gate().isActive());
    }

    @Test
    void workWaitsUntilTheHoldersIsDone() {
        executor.terms("holder", HEAVY);
        holderWorks();
        otherIsHeld();
        executor.driver.heldStreams.clear();
        await(() -> isWritten(unwritten, 3), "its turn has come");
    }

    @Test
    void whatIsNoWorkForTheDeviceDoesNotWait() {
        executor.terms("holder", HEAVY);
        holderWorks();
        long address = allocate(other);
        assertEquals(0, other.call(DriverEntry.cuEventCreate, outBytes(8), value(0)));
        assertEquals(0, other.call(DriverEntry.cuMemFree_v2, value(address)));
        assertEquals(0, other.call(DriverEntry.cuStreamCreate, outBytes(8), value(1)));
        assertEquals(0, executor.gate().held());
    }

    @Test
    void aChangeLetsTheOtherGo() {
        executor.terms("holder", HEAVY);
        holderWorks();
        otherIsHeld();
        executor.terms("holder", TenantTerms.DEFAULT);
        await(() -> isWritten(unwritten, 3), "all are equal again");
    }

    @Test
    void turnsThatAreOrderedComeAndGo() {
        executor.gate().share(PolicyName.FAIR, TurnUse.ON);
        holderWorks();
        otherIsHeld();
        executor.gate().share(PolicyName.FAIR, TurnUse.OFF);
        await(() -> isWritten(unwritten, 3), "nobody takes turns");
    }

    @Test
    void aClientThatDiesWhileItIsHeldIsLetGo() throws Exception {
        executor.terms("holder", HEAVY);
        holderWorks();
        otherIsHeld();
        other.disconnect();
        await(other.segment()::ended, "its end");
        assertEquals(0, holder.call(DriverEntry.cuMemAlloc_v2, outBytes(8), value(4096)));
    }

    @Test
    void theTurnOfAClientThatDiesIsAnothers() throws Exception {
        executor.terms("holder", HEAVY);
        holderWorks();
        otherIsHeld();
        holder.disconnect();
        executor.driver.heldStreams.clear();
        await(() -> isWritten(unwritten, 3), "the other's turn");
    }

    @Test
    void aFloodIsHeldBackAndThenCarriedOut() {
        executor.terms("holder", HEAVY);
        holderWorks();
        otherIsHeld();
        for (int i = 0; i < MANY; i++) {
            submit(other, unwritten, i % 100);
        }
        submit(other, unwritten, 111);
        allocate(holder);
        assertFalse(isWritten(unwritten, 111));
        executor.driver.heldStreams.clear();
        await(() -> isWritten(unwritten, 111), "all of it");
    }
}
