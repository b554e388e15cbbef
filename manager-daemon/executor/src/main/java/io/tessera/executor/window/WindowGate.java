package io.tessera.executor.window;

import io.tessera.executor.wait.BoundedWait;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Decides which clients of a tenant may submit, and which one may change the window. A client calls {@link Pass#enter} before it executes
 * records and {@link Pass#leave} afterwards; each accesses only memory of its own. A client that holds the gate's lock can close the gate, and waits
 * until every other client has left. A client that waits for the lock counts as having left, which prevents deadlock.
 */
final class WindowGate {

    private final ReentrantLock lock = new ReentrantLock();
    private final List<Pass> passes = new CopyOnWriteArrayList<>();
    private volatile boolean closed;

    /** The pass of one client. {@link #enter} and {@link #leave} belong to its owner thread. */
    final class Pass implements AutoCloseable {
        private volatile boolean inside;
        /** Whether the client has left in the middle of a record, which continues as soon as the client is inside again. */
        private volatile boolean midway;

        private Pass() {
        }

        /** Waits while the gate is closed; from here on the client may submit. */
        void enter() {
            inside = true;
            while (closed && !lock.isHeldByCurrentThread()) {
                inside = false;
                lock.lock(); // the thread that closed the gate holds it
                lock.unlock();
                inside = true;
            }
        }

        /** Leaves the gate: the client submits nothing for now. */
        void leave() {
            inside = false;
        }

        /** Takes the lock of the window. While the client waits for it, it counts as having left. */
        void lock() {
            if (!lock.tryLock()) {
                boolean was = inside;
                midway = was;
                inside = false;
                lock.lock();
                inside = was;
                midway = false;
            }
        }

        boolean holdsLock() {
            return lock.isHeldByCurrentThread();
        }

        /** Runs an action for which the client counts as having left; the caller does not hold the lock. */
        void outside(Runnable action) {
            boolean was = inside;
            midway = was;
            leaving(was, action);
        }

        /** As above, but memory of the tenant may leave the device meanwhile: the caller ensures that all of it is back before the record continues. */
        void outsideWithoutMemory(Runnable action) {
            leaving(inside, action);
        }

        private void leaving(boolean was, Runnable action) {
            inside = false;
            try {
                action.run();
            } finally {
                if (was) {
                    enter();
                }
                midway = false;
            }
        }

        /** Returns whether another client is in the middle of a record and waits; the caller holds the lock and has closed the gate. */
        boolean isAnotherMidway() {
            for (Pass other : passes) {
                if (other != this && other.midway) {
                    return true;
                }
            }
            return false;
        }

        /** Gives the lock back. */
        void unlock() {
            lock.unlock();
        }

        /**
         * Closes the gate for all others; the caller holds the lock.
         *
         * @param wait bound on the wait
         * @return false if another client was still inside at the end; then the gate is open again
         */
        boolean closeGate(BoundedWait wait) {
            closed = true;
            for (Pass other : passes) {
                while (other != this && other.inside) {
                    if (wait.isOver()) {
                        closed = false;
                        return false;
                    }
                    wait.pause();
                }
            }
            return true;
        }

        /** Opens the gate again; the caller holds the lock. */
        void openGate() {
            closed = false;
        }

        /** Removes the client, which has left. */
        @Override
        public void close() {
            passes.remove(this);
        }
    }

    /** Runs an action under the lock if the lock is free; for a thread that belongs to no client and must not wait. */
    void tryLocked(Runnable action) {
        if (lock.tryLock()) {
            try {
                action.run();
            } finally {
                lock.unlock();
            }
        }
    }

    /** Creates a pass for one more client, which is outside. */
    Pass pass() {
        Pass pass = new Pass();
        passes.add(pass);
        return pass;
    }
}
