package io.tessera.executor.window;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.executor.wait.BoundedWait;
import io.tessera.executor.wait.WaitLimit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** No client is inside while the gate is closed, and no client waits for ever. */
@Timeout(180)
class WindowGateTest {
    private static final int THREADS = 4;
    private static final long RUN_NS = 1_500_000_000L;

    private final WindowGate gate = new WindowGate();
    private final AtomicInteger inside = new AtomicInteger();
    private final AtomicInteger changes = new AtomicInteger();
    private final AtomicInteger intruders = new AtomicInteger();

    @Test
    void whoChangesIsAlone() throws Exception {
        List<Thread> threads = new ArrayList<>();
        long untilNs = System.nanoTime() + RUN_NS;
        for (int i = 0; i < THREADS; i++) {
            int number = i;
            WindowGate.Pass pass = gate.pass();
            threads.add(Thread.ofPlatform().start(() -> {
                for (int round = 0; System.nanoTime() < untilNs; round++) {
                    visit(pass, round % 16 == number);
                }
                pass.close();
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(0, intruders.get());
        assertTrue(changes.get() > THREADS, "there were " + changes.get() + " changes");
    }

    private void visit(WindowGate.Pass pass, boolean change) {
        pass.enter();
        inside.incrementAndGet();
        if (change) {
            inside.decrementAndGet(); // as a client that waits for the window's lock submits nothing
            pass.lock();
            if (pass.closeGate(BoundedWait.begin(System::nanoTime, WaitLimit.WINDOW_GATE))) {
                intruders.addAndGet(inside.get() == 0 ? 0 : 1);
                Thread.onSpinWait();
                intruders.addAndGet(inside.get() == 0 ? 0 : 1);
                pass.openGate();
                changes.incrementAndGet();
            }
            pass.unlock();
            inside.incrementAndGet();
        }
        inside.decrementAndGet();
        pass.leave();
    }

    @Test
    void whoDoesNotLeaveIsNotWaitedForForEver() {
        WindowGate.Pass stuck = gate.pass();
        WindowGate.Pass other = gate.pass();
        stuck.enter();
        other.lock();
        assertFalse(other.closeGate(BoundedWait.begin(System::nanoTime, WaitLimit.MEMORY_PRESSURE)));
        stuck.close();
        assertTrue(other.closeGate(BoundedWait.begin(System::nanoTime, WaitLimit.WINDOW_GATE)), "its thread has ended");
        other.openGate();
        other.unlock();
    }
}
