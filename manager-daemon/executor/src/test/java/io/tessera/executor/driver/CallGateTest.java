package io.tessera.executor.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A thread that calls without a pause lets waiting threads in. No thread waits for one that stays inside. */
@Timeout(120)
class CallGateTest {
    private static final int CALL_NS = 3_000;
    private static final int ROUNDS = 400;
    private static final int PAUSE_NS = 100_000;

    private final CallGate gate = new CallGate();

    private static void busy(long ns) {
        long untilNs = System.nanoTime() + ns;
        while (System.nanoTime() < untilNs) {
            Thread.onSpinWait();
        }
    }

    /** Calls without a pause. */
    private Thread flood(AtomicLong calls, AtomicBoolean stop) {
        return Thread.ofPlatform().daemon().start(() -> {
            CallGate.Pass pass = gate.pass();
            while (!stop.get()) {
                pass.enter();
                calls.incrementAndGet();
                busy(CALL_NS);
                pass.leave();
            }
        });
    }

    @Test
    void whoCallsWithoutAPauseLetsOthersIn() throws InterruptedException {
        AtomicLong floodCalls = new AtomicLong();
        AtomicBoolean stop = new AtomicBoolean();
        Thread flood = flood(floodCalls, stop);
        CallGate.Pass pass = gate.pass();
        long[] overtaken = new long[ROUNDS];
        for (int i = 0; i < ROUNDS; i++) {
            LockSupport.parkNanos(PAUSE_NS);
            long before = floodCalls.get();
            pass.enter();
            overtaken[i] = floodCalls.get() - before;
            pass.leave();
        }
        stop.set(true);
        flood.join();
        Arrays.sort(overtaken);
        // Some lose their core while they wait; the median does not.
        assertTrue(overtaken[ROUNDS / 2] <= 1, "calls of the other during a wait, at the median: " + overtaken[ROUNDS / 2]);
        assertTrue(floodCalls.get() > ROUNDS, floodCalls.get() + " calls of the one that floods");
    }

    @Test
    void nobodyWaitsLongForWhoStays() {
        CallGate.Pass stays = gate.pass();
        CallGate.Pass other = gate.pass();
        CallGate.Pass third = gate.pass();
        stays.enter();
        for (int i = 0; i < 1_000; i++) {
            other.enter();
            other.leave();
            third.enter();
            third.leave();
        }
        third.enter();
        stays.leave(); // late: it takes nothing away from the thread that is inside now
        other.enter();
        other.leave();
        third.leave();
        stays.enter();
        stays.leave();
    }

    @Test
    void whoKeepsInsideIsNotOvertakenBetweenItsCalls() throws InterruptedException {
        AtomicBoolean stop = new AtomicBoolean();
        AtomicLong others = new AtomicLong();
        Thread other = flood(others, stop);
        CallGate.Pass pass = gate.pass();
        int overtaken = 0;
        for (int i = 0; i < ROUNDS; i++) {
            LockSupport.parkNanos(PAUSE_NS);
            pass.keep();
            pass.enter();
            long before = others.get();
            for (int call = 0; call < 4; call++) {
                pass.enter();
                pass.leave();
            }
            overtaken += others.get() == before ? 0 : 1;
            pass.release();
        }
        stop.set(true);
        other.join();
        assertTrue(overtaken <= ROUNDS / 10, overtaken + " times of " + ROUNDS + " somebody came in between"); // a core may be lost
        assertTrue(others.get() > ROUNDS, others.get() + " calls of the other");
    }

    @Test
    void whoKeepsInsideForLongKeepsNobodyOut() {
        CallGate.Pass keeps = gate.pass();
        CallGate.Pass other = gate.pass();
        keeps.keep();
        keeps.enter();
        keeps.leave();
        other.enter(); // breaks the gate
        keeps.enter(); // as if it had not been inside
        keeps.leave();
        other.leave();
        keeps.release();
        keeps.release();
        other.enter();
        other.leave();
        keeps.enter();
        keeps.leave();
        other.enter();
        other.leave();
    }

    @Test
    void manyGoInAndOutWithoutEnd() throws InterruptedException {
        int threads = 6;
        int calls = 20_000;
        AtomicLong made = new AtomicLong();
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            all.add(Thread.ofPlatform().daemon().start(() -> {
                CallGate.Pass pass = gate.pass();
                for (int call = 0; call < calls; call++) {
                    pass.enter();
                    made.incrementAndGet();
                    pass.leave();
                }
            }));
        }
        for (Thread thread : all) {
            thread.join();
        }
        assertEquals((long) threads * calls, made.get());
    }
}
