package io.tessera.software.driver.context;

import io.tessera.device.CudaError;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.graph.GraphExec;
import io.tessera.software.driver.work.FaultState;
import io.tessera.software.driver.work.Operation;
import io.tessera.software.driver.work.Output;
import io.tessera.software.driver.work.Task;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The work of one context: what its tasks run with, which task is the last of each stream, and which captures are open. Tails and
 * captures are read and changed under the lock of this object, under which the order of work is decided; the rest is thread-safe.
 */
final class WorkOrder {
    private final Services services;
    private final long context;
    private final FaultState fault = new FaultState();
    private final ContextLimits limits = new ContextLimits();
    private final Set<Tail> tails = new LinkedHashSet<>();
    private final Tail legacy = new Tail(false);
    private final List<Capture> captures = new ArrayList<>();
    private volatile boolean destroyed;

    /** The end of a stream. */
    static final class Tail {
        private final boolean blocking;
        private Task last;

        private Tail(boolean blocking) {
            this.blocking = blocking;
        }

        /** Returns the last task, null if there never was one. */
        Task last() {
            return last;
        }
    }

    /** @param context the handle of the context */
    WorkOrder(Services services, long context) {
        this.services = services;
        this.context = context;
    }

    /** Returns the services that the context shares with others. */
    Services services() {
        return services;
    }

    /** Returns the handle of the context. */
    long context() {
        return context;
    }

    /** Returns the error to which the context is lost, if any. */
    FaultState fault() {
        return fault;
    }

    /** Sizes that programs may set. */
    ContextLimits limits() {
        return limits;
    }

    /** Returns whether the context was destroyed. */
    boolean destroyed() {
        return destroyed;
    }

    /** Lets nothing begin any more, and stops kernels that run. */
    void destroy() {
        destroyed = true;
        fault.raise(CudaError.CONTEXT_IS_DESTROYED);
    }

    /** Ends the entry if the context has ended or is lost. */
    void check() {
        DriverException.require(!destroyed, CudaError.CONTEXT_IS_DESTROYED);
        CudaError error = fault.error();
        if (error != null) {
            throw new DriverException(error);
        }
    }

    /** Returns the end of the legacy default stream, which waits for all blocking streams, and they for it. */
    Tail legacy() {
        return legacy;
    }

    /** Returns the end of a new stream. */
    Tail newTail(boolean blocking) {
        Tail tail = new Tail(blocking);
        tails.add(tail);
        return tail;
    }

    /** A thread that waits for the context does not wait for this stream any more. */
    void remove(Tail tail) {
        tails.remove(tail);
    }

    /** Returns whether a thread that waits for the context waits for this stream. */
    boolean contains(Tail tail) {
        return tails.contains(tail);
    }

    Task newTask(Operation operation, Output output) {
        return new Task(operation, fault, output, services.workers());
    }

    /** Returns the services that a launch of a graph needs. */
    GraphExec.Environment environment(Output output) {
        return new GraphExec.Environment(fault, output, services.workers(), services.clock());
    }

    /** Has a task wait for all that comes before it at the end of a stream. */
    void precede(Tail tail, Task task) {
        task.after(tail.last);
        if (tail == legacy) {
            tails.stream().filter(each -> each.blocking).forEach(each -> task.after(each.last));
        } else if (tail.blocking) {
            task.after(legacy.last);
        }
    }

    /** Puts tasks at the end of a stream, of which the first already waits for what is before it. */
    void append(Tail tail, Task last) {
        tail.last = last;
    }

    /** A task that waits for all streams. */
    Task afterAll(Operation operation, Output output) {
        Task task = newTask(operation, output).after(legacy.last);
        tails.forEach(tail -> task.after(tail.last));
        return task;
    }

    /** Returns the captures that are open; the begin and the end of one change this. */
    List<Capture> captures() {
        return captures;
    }
}
