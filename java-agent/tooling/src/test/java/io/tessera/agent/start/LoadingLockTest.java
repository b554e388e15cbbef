package io.tessera.agent.start;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Nobody waits without bound for a thread that makes something while classes are loaded. */
@Timeout(180)
class LoadingLockTest {
    private static final long SHORT_MS = 50;
    private static final long FOR_EVER_MS = 3_600_000;

    /** A thread that has the lock until it is told to let go. */
    private static final class Holder implements AutoCloseable {
        private final CountDownLatch end = new CountDownLatch(1);
        private final Thread thread;

        Holder(LoadingLock lock) throws InterruptedException {
            CountDownLatch held = new CountDownLatch(1);
            thread = new Thread(() -> {
                try {
                    lock.hold(() -> {
                        held.countDown();
                        try {
                            end.await();
                        } catch (InterruptedException stop) {
                            Thread.currentThread().interrupt();
                        }
                        return null;
                    });
                } catch (IOException impossible) {
                    throw new IllegalStateException(impossible);
                }
            });
            thread.start();
            held.await();
        }

        boolean isHolding() {
            return thread.isAlive();
        }

        @Override
        public void close() {
            end.countDown();
            try {
                thread.join();
            } catch (InterruptedException early) {
                throw new IllegalStateException(early);
            }
        }
    }

    @Test
    void aWaitIsBoundedAndTheLockUsableAfterwards() throws Exception {
        LoadingLock lock = new LoadingLock(SHORT_MS);
        try (Holder holder = new Holder(lock)) {
            IOException waited = assertThrows(IOException.class, () -> lock.hold(() -> "made"));
            assertTrue(waited.getMessage().contains(SHORT_MS + " ms"), waited.getMessage());
            assertThrows(IOException.class, () -> lock.hold(() -> "made"));
            assertTrue(holder.isHolding());
        }
        assertEquals("made", lock.hold(() -> lock.hold(() -> "made")));
    }

    @Test
    void anInterruptIsKeptForTheApplication() throws Exception {
        LoadingLock free = new LoadingLock(FOR_EVER_MS);
        Thread.currentThread().interrupt();
        assertEquals("made", free.hold(() -> "made"));
        LoadingLock held = new LoadingLock(SHORT_MS);
        assertTrue(Thread.interrupted());
        try (Holder holder = new Holder(held)) {
            Thread.currentThread().interrupt();
            assertThrows(IOException.class, () -> held.hold(() -> "made"));
            assertTrue(Thread.interrupted());
            assertTrue(holder.isHolding());
        }
    }

    @Test
    void whatIsMadeMayFail() throws Exception {
        LoadingLock lock = new LoadingLock(FOR_EVER_MS);
        assertThrows(IOException.class, () -> lock.hold(() -> {
            throw new IOException("broken");
        }));
        try (Holder other = new Holder(lock)) {
            assertTrue(other.isHolding());
        }
    }
}
