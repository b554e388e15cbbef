package io.tessera.software.driver.work;

import java.util.ArrayList;
import java.util.List;

/**
 * One submitted operation. It becomes ready when it was submitted and all tasks before it are done. A finished task holds no reference to tasks before or after
 * it. Thread-safe.
 */
public final class Task implements Operation.Run {
    /** Runs the tasks of a device. */
    public interface Runner {
        /** Runs a task that waits for nothing any more. */
        void ready(Task task);

        /** An operation failed in a way that no driver documents. */
        void failed(Task task, Throwable failure);

        /** Waits for words in memory. */
        WordPoller poller();
    }

    private final Operation operation;
    private final FaultState fault;
    private final Output output;
    private final Runner runner;
    private List<Task> successors = new ArrayList<>(2);
    private int unmet = 1;
    private boolean done;

    /** A task that waits for nothing yet, and is not submitted. */
    public Task(Operation operation, FaultState fault, Output output, Runner runner) {
        this.operation = operation;
        this.fault = fault;
        this.output = output;
        this.runner = runner;
    }

    /** Returns its operation. */
    public Operation operation() {
        return operation;
    }

    @Override
    public FaultState fault() {
        return fault;
    }

    @Override
    public Output output() {
        return output;
    }

    /** Returns its runner. */
    public Runner runner() {
        return runner;
    }

    @Override
    public WordPoller poller() {
        return runner.poller();
    }

    /** Makes this task wait for another one; null is nothing. Only before {@link #submit}, and only by one thread. */
    public Task after(Task predecessor) {
        if (predecessor != null && predecessor != this) {
            predecessor.addSuccessor(this);
        }
        return this;
    }

    private void addSuccessor(Task successor) {
        synchronized (this) {
            if (done) {
                return;
            }
            // Counted before it is linked, so that the predecessor's end cannot meet a count of zero.
            successor.count(1);
            successors.add(successor);
        }
    }

    private synchronized void count(int more) {
        unmet += more;
    }

    private synchronized boolean met() {
        return --unmet == 0;
    }

    /** Lets it run as soon as it may. */
    public Task submit() {
        if (met()) {
            runner.ready(this);
        }
        return this;
    }

    /** Runs the operation; called by the workers only. */
    void run() {
        boolean finished = true;
        try {
            if (!fault.lost() || operation.runsAfterFault()) {
                finished = operation.run(this);
            }
        } catch (Throwable failure) {
            runner.failed(this, failure);
        }
        if (finished) {
            complete();
        }
    }

    /** Ends the task. Called exactly once, by the run or by what it started. */
    @Override
    public void complete() {
        List<Task> next;
        synchronized (this) {
            done = true;
            next = successors;
            successors = null;
            notifyAll();
        }
        for (Task task : next) {
            if (task.met()) {
                runner.ready(task);
            }
        }
    }

    /** Returns whether it is done. */
    public synchronized boolean isDone() {
        return done;
    }

    /** Waits until it is done, or the time is over; true if it is done. An interrupt ends the wait and is kept for the caller. */
    public boolean await(long millis) {
        synchronized (this) {
            try {
                if (!done) {
                    wait(millis);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return done;
        }
    }

    /** Waits until it is done; an interrupt is kept for the caller and does not end the wait. */
    public void await() {
        boolean interrupted = false;
        synchronized (this) {
            while (!done) {
                try {
                    wait();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
