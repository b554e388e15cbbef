package io.tessera.manager.residency;

import java.util.Collection;
import java.util.List;
import java.util.Optional;

/**
 * The driver's checkpoints of whole processes: their contexts leave the GPU and come back. Calls return at once; outcomes arrive on the owner thread,
 * in a later cycle.
 */
public interface Checkpoints {
    /** An action on a process. */
    enum Action {
        /** The process leaves its GPUs; no driver call of it returns until it is restored. */
        SUSPEND,
        /** The process comes back and continues. */
        RESTORE
    }

    /** Receives the outcome of an action. */
    @FunctionalInterface
    interface Outcome {
        /** Reports the end of the action; empty if it succeeded, else why not. */
        void ended(Optional<String> failure, long nowNs);
    }

    /** Begins an action on a process. */
    void begin(Action action, int pid, Outcome outcome);

    /** Stores the list of suspended processes, for a later manager. */
    void remember(Collection<Integer> pids);

    /** Returns the processes that a former manager left suspended. */
    List<Integer> remembered();

    /** Restores processes and waits for that, for a bounded time; for a manager that ends. */
    void restoreAll(Collection<Integer> pids);
}
