package io.tessera.executor.driver;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Decides which of a device's client threads calls the driver next. A driver has one lock a context, and it is not fair: a thread that launches without a pause
 * takes it again before a sleeping thread that waits for it wakes (measured on driver 580: a call of 3 µs takes 23 µs while another client launches). Threads
 * enter this gate first, and a thread that has just called lets a waiting one go ahead.
 *
 * <p>It orders calls and protects nothing. A thread that waits longer than a submission takes ignores the gate and continues. So a long call (a module, an
 * allocation) keeps others waiting once, for some microseconds, and then the driver's own lock decides. Thread-safe; a {@link Pass} belongs to one thread.
 */
public final class CallGate {
    /** Calls of {@link Thread#onSpinWait}, 40 ns each on Intel, 15 on AMD; so some 10 µs, several launches. */
    private static final int BROKEN_AFTER = 256;
    /** How long a thread that called last waits for an earlier one, which may have lost its core. */
    private static final int POLITE = 48;
    /** Distance between words that different threads write: pairs of cache lines are fetched together. */
    private static final int STRIDE = 128 / Integer.BYTES;

    /** Above 0: the pass that is inside. Otherwise no pass is inside, and this is the negative number of the last one that was. */
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
         * Keeps the thread inside between its calls from now on, until {@link #release}. For a few short calls in sequence: in direct sequence they find the
         * driver's memory in the core's cache, whereas alternating threads fetch it from each other.
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
            // The thread that broke the gate is inside now. It may also enter between the look and the store, which costs order once.
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
