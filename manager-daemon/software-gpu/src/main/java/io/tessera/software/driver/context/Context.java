package io.tessera.software.driver.context;

import io.tessera.device.CudaError;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.graph.GraphExec;
import io.tessera.software.driver.operation.Action;
import io.tessera.software.driver.operation.Nothing;
import io.tessera.software.driver.work.FaultState;
import io.tessera.software.driver.work.Operation;
import io.tessera.software.driver.work.Output;
import io.tessera.software.driver.work.Task;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/** A context: its streams, its captures and whether it is lost to an error. Thread-safe. */
public final class Context {
    /** Numeric limits of stream priorities: lower is more urgent (cuCtxGetStreamPriorityRange). */
    public static final int GREATEST_PRIORITY = -5;

    private static final AtomicLong NEXT_STREAM_ID = new AtomicLong(1);

    private final Object order = new Object();
    private final Services services;
    private final long handle;
    private final FaultState fault = new FaultState();
    private final Set<Stream> streams = new LinkedHashSet<>();
    private final List<Capture> captures = new ArrayList<>();
    private final Map<Thread, Stream> perThread = new HashMap<>();
    private final Stream legacy;
    private final ContextLimits limits = new ContextLimits();
    private volatile int flags;
    private volatile boolean destroyed;
    private Task lastAction;

    /** A context with CUctx_flags. */
    public Context(Services services, long handle, int flags) {
        this.services = services;
        this.handle = handle;
        this.flags = flags;
        legacy = new Stream(this, 0, 0, NEXT_STREAM_ID.getAndIncrement(), true);
    }

    /** What it shares with other contexts. */
    public Services services() {
        return services;
    }

    /** Its handle; also its number for cuCtxGetId. */
    public long handle() {
        return handle;
    }

    /** CUctx_flags. */
    public int flags() {
        return flags;
    }

    /** Changes the flags. */
    public void setFlags(int next) {
        flags = next;
    }

    /** What it is lost to, if anything. */
    public FaultState fault() {
        return fault;
    }

    /** Sizes that programs may set. */
    public ContextLimits limits() {
        return limits;
    }

    /** Ends the entry if the context is gone or lost. */
    public void check() {
        DriverException.require(!destroyed, CudaError.CONTEXT_IS_DESTROYED);
        CudaError error = fault.error();
        if (error != null) {
            throw new DriverException(error);
        }
    }

    /** Whether it was destroyed. */
    public boolean destroyed() {
        return destroyed;
    }

    /** The lock under which the order of work is decided. */
    Object order() {
        return order;
    }

    /** The legacy default stream. */
    public Stream legacy() {
        return legacy;
    }

    /** The calling thread's default stream. */
    public Stream perThread() {
        synchronized (order) {
            perThread.keySet().removeIf(thread -> !thread.isAlive() && thread != Thread.currentThread());
            return perThread.computeIfAbsent(Thread.currentThread(), _ -> newStream(0, 0));
        }
    }

    /** A new stream. */
    public Stream newStream(int streamFlags, int priority) {
        synchronized (order) {
            int bounded = Math.max(GREATEST_PRIORITY, Math.min(0, priority));
            Stream stream = new Stream(this, streamFlags, bounded, NEXT_STREAM_ID.getAndIncrement(), false);
            streams.add(stream);
            return stream;
        }
    }

    /** Lets go of a stream; its work goes on, and who waits for the context waits for it. */
    public void remove(Stream stream) {
        synchronized (order) {
            if (stream.capture() != null) {
                stream.capture().invalidate();
            }
            Task tail = stream.tail();
            if (tail == null || tail.isDone()) {
                streams.remove(stream);
                return;
            }
            Task after = newTask(new Action(() -> {
                synchronized (order) {
                    streams.remove(stream);
                }
            })).after(tail);
            // Outside of the streams' own order: nothing waits for it.
            after.submit();
        }
    }

    void eachStream(Consumer<Stream> action) {
        streams.forEach(action);
    }

    private Task newTask(Operation operation) {
        return newTask(operation, text -> legacy.print(text));
    }

    Task newTask(Operation operation, Output output) {
        return new Task(operation, fault, output, services.workers());
    }

    /** What a launch of a graph needs. */
    GraphExec.Environment environment(Output output) {
        return new GraphExec.Environment(fault, output, services.workers(), services.clock());
    }

    List<Capture> captures() {
        return captures;
    }

    void captureBegun(Capture capture) {
        captures.add(capture);
    }

    void captureEnded(Capture capture) {
        captures.remove(capture);
    }

    boolean capturing(Capture capture) {
        return captures.contains(capture);
    }

    private Task afterAll(Operation operation) {
        Task task = newTask(operation).after(legacy.tail());
        streams.forEach(stream -> task.after(stream.tail()));
        return task;
    }

    /** Waits for all work; ends the entry with the error that the context is lost to. */
    public void synchronize() {
        Task task;
        synchronized (order) {
            CaptureRules.forbidWaitForAll(this);
            task = afterAll(Nothing.INSTANCE);
        }
        task.submit().await();
        check();
    }

    /** Waits for all work, whatever became of it. */
    public void drain() {
        Task task;
        synchronized (order) {
            task = afterAll(Nothing.INSTANCE);
        }
        task.submit().await();
    }

    /** Does the driver's own bookkeeping once all work submitted so far has ended. Does not wait. */
    public void whenQuiet(Runnable body) {
        Task task;
        synchronized (order) {
            // Chained, so that the last one stands for all of them.
            task = afterAll(new Action(body)).after(lastAction);
            lastAction = task;
        }
        task.submit();
    }

    /** Waits until all that {@link #whenQuiet} was given is done, or so long; true if there was something to wait for. */
    public boolean awaitQuiet(long millis) {
        Task last;
        synchronized (order) {
            last = lastAction;
        }
        if (last == null || last.isDone()) {
            return false;
        }
        return last.await(millis);
    }

    /** Ends it: kernels that run are stopped, and what has not begun does not run. */
    public void destroy() {
        destroyed = true;
        fault.raise(CudaError.CONTEXT_IS_DESTROYED);
        drain();
    }

    /** All streams, the legacy one first, for who takes what they printed. */
    public List<Stream> allStreams() {
        synchronized (order) {
            List<Stream> all = new ArrayList<>();
            all.add(legacy);
            all.addAll(streams);
            return all;
        }
    }
}
