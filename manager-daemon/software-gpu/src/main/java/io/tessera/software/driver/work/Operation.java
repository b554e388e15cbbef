package io.tessera.software.driver.work;

/** The work of a task of a stream, or of a node of a graph. Implementations are immutable and may run many times, also at the same time in different tasks. */
public interface Operation {
    /** Thread on which an operation runs. */
    enum Place {
        /** Takes less than handing it over does: runs on the thread that finds it ready. */
        HERE,
        /** Computes or copies: runs on a worker of the device. */
        WORKER,
        /** Calls the program's code, which may take any time: runs on a thread of its own. */
        OUTSIDE
    }

    /** One run of an operation. */
    interface Run {
        /** Returns the fault state of the context. */
        FaultState fault();

        /** Returns where kernels print. */
        Output output();

        /** Waits for words in memory. */
        WordPoller poller();

        /** Ends the run; called exactly once if the operation continues after {@link Operation#run}. */
        void complete();
    }

    /** Returns where to run it. */
    Place place();

    /**
     * Executes the operation. Called after everything for which the task waits.
     *
     * @return true if it is done; false if it continues and {@link Run#complete} will be called once
     */
    boolean run(Run task);

    /** Returns whether it runs even where the context was lost before: releases of memory and references do. */
    default boolean runsAfterFault() {
        return false;
    }
}
