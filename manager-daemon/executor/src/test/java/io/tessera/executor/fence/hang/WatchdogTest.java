package io.tessera.executor.fence.hang;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.CudaResult;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.driver.SynchronizationGate;
import io.tessera.executor.stream.ProgressEvents;
import io.tessera.protocol.FenceChoice;
import io.tessera.protocol.UnfencedPolicy;
import io.tessera.testing.driver.FakeDriver;
import java.lang.foreign.Arena;
import java.util.Set;
import java.util.function.LongPredicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests which client's work is ended when the work of several takes too long. Times are arguments, and no test waits. */
class WatchdogTest {
    private static final long SECOND_NS = 1_000_000_000L;
    private static final long LOOK_NS = 100_000_000L;
    private static final int SHARED_S = 3;
    private static final long ATTACK = 0x10;
    private static final long VICTIM = 0x20;

    private final Arena arena = Arena.ofShared();
    private final FakeDriver driver = new FakeDriver();
    private final FenceSettings settings = new FenceSettings(FenceChoice.MASK, UnfencedPolicy.REFUSE, true, 0, SHARED_S);
    private final TenantPresence presence = new TenantPresence();
    private TenantPresence.Member attacker;
    private Watchdog attack;
    private Watchdog victim;
    private long nowNs = 1_000 * SECOND_NS;

    @BeforeEach
    void open() {
        attacker = presence.enter("attacker", 1, () -> {});
        TenantPresence.Member other = presence.enter("victim", 1, () -> {});
        attack = watchdog(settings, attacker);
        victim = watchdog(settings, other);
    }

    private Watchdog watchdog(FenceSettings settings, TenantPresence.Member member) {
        DriverCalls calls = new DriverCalls(driver, arena);
        return new Watchdog(settings, member, calls, new ProgressEvents(calls), ProgressCounters.make(calls),
                new SynchronizationGate(() -> nowNs).enter("client"));
    }

    @AfterEach
    void close() {
        driver.close();
        arena.close();
    }

    /** Lets time pass; returns the client that is blamed first, if any: 1 the attacker, 2 the victim, 0 none. */
    private int pass(long ns, boolean victimFirst) {
        for (long untilNs = nowNs + ns; nowNs < untilNs; nowNs += LOOK_NS) {
            boolean second = victimFirst && victim.isExpired(nowNs);
            if (attack.isExpired(nowNs)) {
                return 1;
            }
            if (second || !victimFirst && victim.isExpired(nowNs)) {
                return 2;
            }
        }
        return 0;
    }

    private void launch(Watchdog who, long stream) {
        driver.heldStreams.add(stream);
        who.launched(stream, nowNs);
    }

    /** A stream may join a capture by a wait: an event behind that is captured, and is never complete. */
    @Test
    void aWaitThatJoinsACaptureLetsNobodyStand() {
        SynchronizationGate synchronization = new SynchronizationGate(() -> nowNs);
        SynchronizationGate.Client standing = synchronization.enter("client");
        SynchronizationGate.Client other = synchronization.enter("client");
        DriverCalls calls = new DriverCalls(driver, arena);
        Watchdog watchdog = new Watchdog(settings, attacker, calls, new ProgressEvents(calls), ProgressCounters.none(), standing);
        watchdog.waitsInGraph();
        assertEquals(0, watchdog.pausing(ATTACK, false, () -> {
            driver.capturing = true;
            return 0;
        }));
        assertFalse(standing.isStanding());
        assertTrue(other.mayBegin());
    }

    /** Whatever happens to an event: work that is not in progress delays no client. */
    @Test
    void anEventThatTheDriverDoesNotKnowIsNotWaitedFor() {
        SynchronizationGate synchronization = new SynchronizationGate(() -> nowNs);
        SynchronizationGate.Client standing = synchronization.enter("client");
        DriverCalls calls = new DriverCalls(driver, arena);
        Watchdog watchdog = new Watchdog(settings, attacker, calls, new ProgressEvents(calls), ProgressCounters.none(), standing);
        driver.heldStreams.add(ATTACK);
        assertEquals(0, watchdog.pausing(ATTACK, true, () -> 0));
        watchdog.forgetPauses();
        assertTrue(standing.isStanding());
        driver.failEvents(CudaResult.CAPTURED_EVENT);
        watchdog.forgetPauses();
        assertFalse(standing.isStanding());
    }

    /** A client whose work is done is freed, and what is freed may count as a wait: it must not wait for itself. */
    @Test
    void nothingStandsOfWhoIsFreedWhateverItsEventsSay() {
        SynchronizationGate synchronization = new SynchronizationGate(() -> nowNs);
        SynchronizationGate.Client standing = synchronization.enter("first");
        SynchronizationGate.Client other = synchronization.enter("other");
        DriverCalls calls = new DriverCalls(driver, arena);
        Watchdog watchdog = new Watchdog(settings, attacker, calls, new ProgressEvents(calls), ProgressCounters.none(), standing);
        driver.heldStreams.add(ATTACK);
        assertEquals(0, watchdog.pausing(ATTACK, true, () -> 0));
        watchdog.idle();
        assertTrue(standing.isStanding());
        assertFalse(other.mayBegin());
        watchdog.nothingStands();
        assertFalse(standing.isStanding());
        assertTrue(other.mayBegin());
        watchdog.close();
    }

    @Test
    void whoFillsTheDeviceIsBlamedAndNotWhoWaitsBehind() {
        for (boolean victimFirst : new boolean[] {false, true}) {
            launch(attack, ATTACK);
            assertTrue(pass(LOOK_NS * 2, victimFirst) == 0);
            launch(victim, VICTIM);
            assertTrue(pass((SHARED_S + 1) * SECOND_NS, victimFirst) == 1, "the attacker");
            // While it is being ended its work is not checked.
            for (long untilNs = nowNs + 5 * SECOND_NS; nowNs < untilNs; nowNs += LOOK_NS) {
                assertFalse(victim.isExpired(nowNs), "it waits for the attacker");
            }
            driver.heldStreams.remove(ATTACK);
            attack.ended();
            assertTrue(pass((SHARED_S - 1) * SECOND_NS, victimFirst) == 0, "its time starts again");
            driver.heldStreams.remove(VICTIM);
            assertTrue(pass(SECOND_NS, victimFirst) == 0);
        }
    }

    /** The work ended by itself, or because it was told to, and its own thread sees that first. */
    @Test
    void whoWaitedBehindOlderWorkHasHisTimeFromItsEndOn() {
        for (boolean victimFirst : new boolean[] {false, true}) {
            launch(attack, ATTACK);
            assertEquals(0, pass(LOOK_NS * 2, victimFirst));
            launch(victim, VICTIM);
            assertEquals(0, pass((SHARED_S - 1) * SECOND_NS, victimFirst));
            driver.heldStreams.remove(ATTACK);
            assertFalse(attack.isExpired(nowNs));
            assertEquals(0, pass((SHARED_S - 1) * SECOND_NS, victimFirst), "its time starts again");
            assertEquals(2, pass(2 * SECOND_NS, victimFirst), "and ends");
            driver.heldStreams.remove(VICTIM);
            victim.ended();
        }
    }

    /** Else a tenant's processes would take turns to have one of them stay. */
    @Test
    void workOfTheSameTenantGainsNobodyTime() {
        TenantPresence.Member twin = presence.enter("attacker", 1, () -> {});
        Watchdog older = watchdog(settings, twin);
        launch(older, 0x30);
        launch(attack, ATTACK);
        assertEquals(0, pass((SHARED_S - 1) * SECOND_NS, false));
        driver.heldStreams.remove(0x30L);
        assertFalse(older.isExpired(nowNs));
        assertEquals(1, pass(2 * SECOND_NS, false));
    }

    @Test
    void whatWasBegunAloneIsTimedFromWhenOthersCome() {
        TenantPresence quiet = new TenantPresence();
        Watchdog alone = watchdog(settings, quiet.enter("alone", 1, () -> {}));
        launch(alone, ATTACK);
        for (long untilNs = nowNs + 60 * SECOND_NS; nowNs < untilNs; nowNs += LOOK_NS) {
            assertFalse(alone.isExpired(nowNs), "nobody waits for it");
        }
        TenantPresence.Member newcomer = quiet.enter("newcomer", 1, () -> {});
        for (long untilNs = nowNs + (SHARED_S - 1) * SECOND_NS; nowNs < untilNs; nowNs += LOOK_NS) {
            assertFalse(alone.isExpired(nowNs), "its time has just begun");
            assertFalse(quiet.haltLate(nowNs, SECOND_NS, place -> true));
            assertFalse(alone.isHalted());
            quiet.leave(quiet.enter("newcomer", 1, () -> { // a client that comes and leaves gains no time for others
            }));
        }
        nowNs += 2 * SECOND_NS;
        assertTrue(alone.isExpired(nowNs));
        assertFalse(alone.isHalted());
        assertFalse(quiet.haltLate(nowNs, SECOND_NS, place -> true), "it has its time to end");
        assertTrue(alone.isHalted());
        assertTrue(quiet.haltLate(nowNs + 2 * SECOND_NS, SECOND_NS, place -> true), "it does not end");
        assertFalse(quiet.haltLate(nowNs + 2 * SECOND_NS, SECOND_NS, place -> false), "it has ended");
        quiet.leave(newcomer);
    }

    /** The event behind a kernel is not recorded while a call of another client holds the driver until the device is idle. */
    @Test
    void whoIsHeldUpBeforeItsWorkHasAPlaceIsToldToEnd() {
        assertFalse(presence.haltLate(nowNs, SECOND_NS, place -> true));
        attacker.turn().marking(nowNs);
        assertFalse(presence.haltLate(nowNs + SECOND_NS, SECOND_NS, place -> true));
        assertFalse(attack.isHalted());
        nowNs += (SHARED_S + 1) * SECOND_NS;
        assertFalse(presence.haltLate(nowNs, SECOND_NS, place -> true), "it has its time to end");
        assertTrue(attack.isHalted());
        attacker.turn().marked();
        attack.ended();
        launch(victim, VICTIM);
        attacker.turn().marking(nowNs - SECOND_NS);
        assertFalse(presence.haltLate(nowNs, SECOND_NS, place -> true), "the time of all starts again");
        presence.haltLate(nowNs + (SHARED_S + 1) * SECOND_NS, SECOND_NS, place -> true);
        assertTrue(victim.isHalted(), "what has a place goes first");
        assertFalse(attack.isHalted());
    }

    /** The client's thread was blocked before it saw that the first kernel was done: the work behind that kernel is endless. */
    @Test
    void whatIsBehindThePlaceThatWasLookedAtLastIsToldToEnd() {
        attacker.turn().begun(nowNs, 1);
        attacker.turn().last(5, 2);
        LongPredicate first = place -> place == 1;
        LongPredicate second = place -> place == 2;
        assertFalse(presence.haltLate(nowNs, SECOND_NS, first));
        nowNs += SHARED_S * SECOND_NS;
        assertFalse(presence.haltLate(nowNs, SECOND_NS, second), "its time begins where the first is seen to be done");
        nowNs += (SHARED_S - 1) * SECOND_NS;
        presence.haltLate(nowNs, SECOND_NS, second);
        assertFalse(attack.isHalted());
        nowNs += 2 * SECOND_NS;
        presence.haltLate(nowNs, SECOND_NS, second);
        assertTrue(attack.isHalted());
    }

    @Test
    void whoIsEndlessAfterAllIsBlamedNext() {
        launch(attack, ATTACK);
        pass(SECOND_NS, false);
        launch(victim, VICTIM);
        assertTrue(pass((SHARED_S + 1) * SECOND_NS, false) == 1);
        driver.heldStreams.remove(ATTACK);
        attack.ended();
        assertTrue(pass((SHARED_S + 1) * SECOND_NS, false) == 2, "it does not end either");
    }

    @Test
    void whoGoesWithLateWorkLetsTheOthersBeginAnew() {
        launch(attack, ATTACK);
        pass(SECOND_NS, false);
        launch(victim, VICTIM);
        pass(SECOND_NS * 2, false);
        presence.leave(attacker);
        presence.enter("third", 1, () -> {});
        driver.heldStreams.remove(ATTACK);
        for (long untilNs = nowNs + (SHARED_S - 1) * SECOND_NS; nowNs < untilNs; nowNs += LOOK_NS) {
            assertFalse(victim.isExpired(nowNs));
        }
    }

    /** Submits a wait in a stream that stands still; the event before it, which is not done. */
    private long waits(Watchdog who, long stream, boolean program) {
        Set<Long> known = driver.made("event");
        driver.heldStreams.add(stream);
        assertEquals(0, who.pausing(stream, program, () -> 0));
        return driver.made("event").stream().filter(event -> !known.contains(event)).mapToLong(Long::longValue).min()
                .orElseThrow();
    }

    @Test
    void whoWaitsForTheProgramIsLeftAlone() {
        driver.doneEvents.add(waits(attack, ATTACK, true));
        launch(attack, ATTACK);
        assertEquals(0, pass(20 * SECOND_NS, false), "the stream stands at its wait");
        driver.heldStreams.remove(ATTACK);
        assertEquals(0, pass(SECOND_NS, false));
        launch(attack, ATTACK);
        assertEquals(1, pass((SHARED_S + 1) * SECOND_NS, false), "a wait that is over excuses nothing");
    }

    @Test
    void aWaitBehindAnEndlessKernelExcusesNothing() {
        launch(attack, ATTACK);
        waits(attack, ATTACK, true); // the stream does not come so far
        assertEquals(1, pass((SHARED_S + 1) * SECOND_NS, false));
    }

    @Test
    void aStreamThatWaitsExcusesNoOther() {
        driver.doneEvents.add(waits(attack, ATTACK, true));
        launch(attack, ATTACK + 1);
        assertEquals(1, pass((SHARED_S + 1) * SECOND_NS, false));
    }

    @Test
    void whoWaitsForAStreamThatWaitsIsLeftAloneToo() {
        driver.doneEvents.add(waits(attack, ATTACK, true));
        driver.doneEvents.add(waits(attack, ATTACK + 1, false));
        launch(attack, ATTACK + 1);
        assertEquals(0, pass(20 * SECOND_NS, false));
        driver.heldStreams.remove(ATTACK);
        driver.heldStreams.remove(ATTACK + 1);
        pass(SECOND_NS, false);
        Set<Long> known = driver.made("event");
        assertEquals(0, attack.pausing(ATTACK + 1, false, () -> 0));
        assertEquals(known, driver.made("event"), "with no wait out for the program, nothing is recorded");
    }

    /** The graph may run a kernel that never ends beside its wait. */
    @Test
    void aGraphThatWaitsHasToEndBesideOthers() {
        attack.waitsInGraph();
        Set<Long> known = driver.made("event");
        driver.heldStreams.add(ATTACK);
        assertEquals(0, attack.pausingInGraph(ATTACK, () -> 0));
        driver.doneEvents.add(driver.made("event").stream().filter(event -> !known.contains(event)).mapToLong(Long::longValue).min().orElseThrow());
        attack.graphLaunched(ATTACK);
        assertEquals(1, pass((SHARED_S + 1) * SECOND_NS, false));
    }

    @Test
    void endlessWorkBehindTheLastEventAndOfDestroyedStreamsIsSeen() {
        attack.launched(ATTACK, nowNs);
        nowNs += 1000;
        launch(attack, ATTACK); // so soon that no event is recorded behind it
        assertTrue(pass((SHARED_S + 1) * SECOND_NS, false) == 1);
        driver.heldStreams.remove(ATTACK);
        attack.ended();
        pass(SECOND_NS, false);
        launch(attack, ATTACK + 1);
        attack.forget(ATTACK + 1);
        assertTrue(pass((SHARED_S + 1) * SECOND_NS, false) == 1, "its stream is destroyed, its kernel is not");
    }
}
