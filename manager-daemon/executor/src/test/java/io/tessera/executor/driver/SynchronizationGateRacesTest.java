package io.tessera.executor.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.clock.Clocks;
import io.tessera.device.DriverEntry;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Clients that stand and call at random times: never at once, and every client makes progress. */
@Timeout(180)
class SynchronizationGateRacesTest {
    private static final int CLIENTS = 6;
    private static final int ROUNDS = 300;

    private final SynchronizationGate synchronization = new SynchronizationGate(Clocks.system().monotonic());
    private final AtomicInteger standing = new AtomicInteger();
    private final AtomicInteger inside = new AtomicInteger();
    private final AtomicInteger met = new AtomicInteger();
    private final AtomicInteger calls = new AtomicInteger();

    private void client(long seed) {
        Random random = new Random(seed);
        SynchronizationGate.Client client = synchronization.enter("client");
        for (int i = 0; i < ROUNDS; i++) {
            if (random.nextBoolean()) {
                assertTrue(client.stand());
                standing.incrementAndGet();
                met.addAndGet(inside.get());
                Thread.yield();
                standing.decrementAndGet();
                client.over();
            } else {
                assertTrue(client.begin());
                inside.incrementAndGet();
                met.addAndGet(standing.get());
                calls.incrementAndGet();
                Thread.yield();
                inside.decrementAndGet();
                client.end();
            }
        }
        client.leave();
    }

    @Test
    void whoStandsAndWhoCallsDoNotMeet() throws InterruptedException {
        long seed = System.nanoTime();
        List<Thread> threads = new ArrayList<>();
        AtomicBoolean failed = new AtomicBoolean();
        for (int i = 0; i < CLIENTS; i++) {
            long own = seed + i;
            threads.add(Thread.ofPlatform().uncaughtExceptionHandler((_, _) -> failed.set(true)).start(() -> client(own)));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertFalse(failed.get(), "seed " + seed);
        assertEquals(0, met.get(), "seed " + seed);
        assertTrue(calls.get() > ROUNDS, "seed " + seed);
        assertTrue(synchronization.enter("client").mayBegin(), "nobody stands");
        assertTrue(synchronization.longCall(Clocks.system().monotonic().nanoTime(), 0).isEmpty());
    }

    /** Calls that overlap all the time: one is always under way. */
    @Test
    void whoWantsToStandComesToThat() throws InterruptedException {
        AtomicBoolean ends = new AtomicBoolean();
        List<Thread> callers = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            SynchronizationGate.Client caller = synchronization.enter("client");
            callers.add(Thread.ofPlatform().start(() -> {
                while (!ends.get()) {
                    assertTrue(caller.begin());
                    LockSupport.parkNanos(2_000_000);
                    calls.incrementAndGet();
                    caller.end();
                }
            }));
        }
        SynchronizationGate.Client client = synchronization.enter("client");
        for (int i = 0; i < 5; i++) {
            int before = calls.get();
            assertTrue(client.stand());
            client.over();
            while (calls.get() == before) {
                Thread.onSpinWait(); // and the others make their calls
            }
        }
        ends.set(true);
        for (Thread caller : callers) {
            caller.join();
        }
    }

    @Test
    void whoIsGivenUpDoesNotCallAndKeepsNobody() {
        SynchronizationGate.Client stands = synchronization.enter("client");
        SynchronizationGate.Client other = synchronization.enter("client");
        assertTrue(stands.stand());
        AtomicInteger asked = new AtomicInteger();
        other.whileWaiting(() -> asked.incrementAndGet() < 10, Runnable::run);
        assertFalse(other.begin());
        assertEquals(10, asked.get());
        assertFalse(stands.isAwaited(), "nobody waits any more");
        assertFalse(other.mayBegin());
        stands.leave();
        assertTrue(other.begin());
        other.whileWaiting(() -> false, Runnable::run);
        assertFalse(other.stand(), "a call is under way");
        other.end();
        assertTrue(other.stand());
    }

    @Test
    void streamsAreCountedAndGoWithTheirClient() {
        SynchronizationGate.Client many = synchronization.enter("client");
        SynchronizationGate.Client other = synchronization.enter("client");
        for (int i = 0; i < 27; i++) {
            many.called(DriverTable.row(DriverEntry.cuStreamCreate));
        }
        assertFalse(other.mayWaitIn(DriverTable.row(DriverEntry.cuStreamCreate)));
        other.called(DriverTable.row(DriverEntry.cuStreamCreateWithPriority));
        assertTrue(other.mayWaitIn(DriverTable.row(DriverEntry.cuStreamCreate)));
        assertFalse(other.mayWaitIn(DriverTable.row(DriverEntry.cuStreamDestroy_v2)));
        many.called(DriverTable.row(DriverEntry.cuStreamCreate));
        assertFalse(other.mayWaitBehindOthers(true, 1), "nobody stands");
        assertTrue(many.stand());
        assertTrue(other.mayWaitBehindOthers(true, 1));
        assertEquals(0, other.keepsOthersNs(Long.MAX_VALUE), "it stands nowhere");
        assertTrue(many.keepsOthersNs(Long.MAX_VALUE) > 0);
        assertTrue(other.mayWaitBehindOthers(false, 2));
        assertEquals(0, many.keepsOthersNs(Long.MAX_VALUE), "nobody is late");
        many.leave();
        assertFalse(other.mayWaitIn(DriverTable.row(DriverEntry.cuStreamCreate)));
        assertFalse(other.mayWaitBehindOthers(true, 3));
    }

    /** Others' queues are bounded more tightly after a call, for as long as the next one may follow. */
    @Test
    void othersHearOfACallUntilATenthOfASecondAfterIt() {
        long[] nowNs = {5_000_000_000L};
        SynchronizationGate gate = new SynchronizationGate(() -> nowNs[0]);
        SynchronizationGate.Client caller = gate.enter("caller");
        SynchronizationGate.Client other = gate.enter("other");
        assertFalse(other.isBesideSynchronizing());
        assertTrue(caller.begin());
        assertTrue(other.isBesideSynchronizing());
        assertFalse(caller.isBesideSynchronizing(), "its own calls do not count");
        nowNs[0] += 3_000_000_000L;
        assertTrue(other.isBesideSynchronizing(), "it waits for a kernel that takes seconds");
        caller.end();
        nowNs[0] += 99_000_000L;
        assertTrue(other.isBesideSynchronizing());
        nowNs[0] += 2_000_000L;
        assertFalse(other.isBesideSynchronizing());
        assertTrue(caller.begin());
        caller.leave();
        assertFalse(other.isBesideSynchronizing(), "a client that is gone makes no calls");
    }
}
