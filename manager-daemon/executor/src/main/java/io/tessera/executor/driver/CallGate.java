package io.tessera.executor.driver;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Decides which of a device's client threads calls the driver next. A driver has one lock for each context, and it is not fair: a thread that launches without
 * a pause takes it again before a sleeping waiter wakes (measured on driver 580: a call of 3 µs takes 23 µs while another client launches). So threads enter
 * this gate first, and a thread that has just called lets a waiting one go ahead.
 *
 * <p>The gate only orders calls; it is not a lock. A thread that waits longer than a submission takes ignores it and continues. So a long call (a module, an
 * allocation) keeps others waiting here once, for some microseconds, and then the driver's own lock decides. Thread-safe; a {@link Pass} belongs to one thread.
 */
public final class CallGate {
    /** Maximum wait, in calls of {@link Thread#onSpinWait}, which take 40 ns on Intel and 15 ns on AMD: some 10 µs, or several launches. */
    private static final int BROKEN_AFTER = 256;
    /** How long the thread that called last gives way to a waiting one, which may have lost its core; in the same unit. */
    private static final int POLITE = 48;
    /** Distance between words that different threads write: two cache lines, since hardware prefetches them in pairs. */
    private static final int STRIDE = 128 / Integer.BYTES;

    /** Index of the state. Above 0: the number of the pass that is inside. Otherwise none is, and this is the negative number of the last one. */
    private static final int STATE = STRIDE;
    /** Number of passes that wait. */
    private static final int WAITING = 2 * STRIDE;

    private final AtomicIntegerArray words = new AtomicIntegerArray(4 * STRIDE);
    private final AtomicInteger passes = new AtomicInteger();

    /** The pass of one thread, which enters before a call and leaves after it. */
    public final class Pass {
        private final int number = passes.incrementAndGet();
        private boolean keeps;
        private boolean inside;

        private Pass() {
        }

        /**
         * Keeps the thread inside between its calls from now on, until {@link #release}. For a few short calls in sequence: without other threads' calls
         * between them, the driver's memory stays in the core's cache.
         */
        public void keep() {
            keeps = true;
        }

        /** Leaves the gate, if the thread is inside. */
        public void release() {
            keeps = false;
            if (inside) {
                goOut();
            }
        }

        /** Enters the gate before a call. The wait is bounded. */
        public void enter() {
            int state = words.get(STATE);
            if (inside && state == number) {
                return;
            }
            if (state > 0 || words.get(WAITING) != 0 || !words.compareAndSet(STATE, state, number)) {
                await();
            }
            inside = true;
        }

        private void await() {
            words.getAndIncrement(WAITING);
            for (int spins = 0; !tryEnter(spins); spins++) {
                Thread.onSpinWait();
            }
            words.getAndDecrement(WAITING);
        }

        private boolean tryEnter(int spins) {
            int state = words.get(STATE);
            if (state > 0) {
                return spins >= BROKEN_AFTER && words.compareAndSet(STATE, state, number);
            }
            boolean mayGo = state != -number || words.get(WAITING) == 1 || spins >= POLITE;
            return mayGo && words.compareAndSet(STATE, state, number);
        }

        /** Leaves the gate after the call. */
        public void leave() {
            if (!keeps) {
                goOut();
            }
        }

        private void goOut() {
            inside = false;
            // Another number means that a thread has ignored the gate and is inside now. Between load and store, that costs the order once.
            if (words.get(STATE) == number) {
                words.setRelease(STATE, -number);
            }
        }
    }

    /** Creates a pass for the calling thread. */
    public Pass pass() {
        return new Pass();
    }
}
