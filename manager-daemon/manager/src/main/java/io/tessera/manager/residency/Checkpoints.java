package io.tessera.manager.residency;

import java.util.Collection;
import java.util.List;
import java.util.Optional;

/**
 * The driver's checkpoints of whole processes: their contexts leave the GPU and come back. Calls return at once; outcomes
 * come on the owner thread, in a later cycle.
 */
public interface Checkpoints {
    /** What is done to a process. */
    enum Action {
        /** It leaves its GPUs; no driver call of it returns until it is restored. */
        SUSPEND,
        /** It comes back and goes on. */
        RESTORE
    }

    /** Hears how it went. */
    @FunctionalInterface
    interface Outcome {
        /** Empty if it was done, else why not. */
        void ended(Optional<String> failure, long nowNs);
    }

    /** Begins an action on a process. */
    void begin(Action action, int pid, Outcome outcome);

    /** Keeps which processes are suspended, for a manager after this one. */
    void remember(Collection<Integer> pids);

    /** Processes that a manager before this one left suspended. */
    List<Integer> remembered();

    /** Restores processes and waits for that, bounded; for a manager that ends. */
    void restoreAll(Collection<Integer> pids);
}
