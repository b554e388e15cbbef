package io.tessera.software.driver.context;

import io.tessera.device.CudaError;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.operation.Action;
import io.tessera.software.driver.operation.Nothing;
import io.tessera.software.driver.work.FaultState;
import io.tessera.software.driver.work.Operation;
import io.tessera.software.driver.work.Task;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

/** A context: its streams, its captures and whether it is lost to an error. Thread-safe. */
public final class Context {
    /** Numeric limits of stream priorities: lower is more urgent (cuCtxGetStreamPriorityRange). */
    public static final int GREATEST_PRIORITY = -5;

    private static final AtomicLong NEXT_STREAM_ID = new AtomicLong(1);

    private final WorkOrder order;
    private final Set<Stream> streams = new LinkedHashSet<>();
    private final Map<Thread, Stream> perThread = new HashMap<>();
    private final Stream legacy;
    private volatile int flags;
    private Task lastAction;

    /** A context with CUctx_flags. */
    public Context(Services services, long handle, int flags) {
        this.order = new WorkOrder(services, handle);
        this.flags = flags;
        legacy = new Stream(order, order.legacy(), 0, 0, NEXT_STREAM_ID.getAndIncrement());
    }

    /** Returns the services that it shares with other contexts. */
    public Services services() {
        return order.services();
    }

    /** Returns its handle, which is also its number for cuCtxGetId. */
    public long handle() {
        return order.context();
    }

    /** CUctx_flags. */
    public int flags() {
        return flags;
    }

    /** Changes the flags. */
    public void setFlags(int next) {
        flags = next;
    }

    /** Returns the error to which it is lost, if any. */
    public FaultState fault() {
        return order.fault();
    }

    /** Sizes that programs may set. */
    public ContextLimits limits() {
        return order.limits();
    }

    /** Ends the entry if the context has ended or is lost. */
    public void check() {
        order.check();
    }

    /** Returns whether it was destroyed. */
    public boolean destroyed() {
        return order.destroyed();
    }

    /** The order of its work, and the lock for it. */
    WorkOrder order() {
        return order;
    }

    /** Returns the legacy default stream. */
    public Stream legacy() {
        return legacy;
    }

    /** Returns the calling thread's default stream. */
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
            Stream stream = new Stream(order, order.newTail(Stream.isBlocking(streamFlags)), streamFlags, bounded,
                    NEXT_STREAM_ID.getAndIncrement());
            streams.removeIf(Stream::isGone);
            streams.add(stream);
            return stream;
        }
    }

    private Task afterAll(Operation operation) {
        return order.afterAll(operation, text -> legacy.print(text));
    }

    /** Ends the entry if a stream of the context is captured: it is not possible to wait for such a context. */
    private void forbidWait() {
        for (Capture capture : order.captures()) {
            capture.invalidate();
            throw new DriverException(CudaError.STREAM_CAPTURE_UNSUPPORTED);
        }
    }

    /** Waits for all work; ends the entry with the error that the context is lost to. */
    public void synchronize() {
        Task task;
        synchronized (order) {
            forbidWait();
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
            // Chained, so that the last one is complete after all of them.
            task = afterAll(new Action(body)).after(lastAction);
            lastAction = task;
        }
        task.submit();
    }

    /** Waits until all that {@link #whenQuiet} was given is done, or the time is over; true if there was something to wait for. */
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
        order.destroy();
        drain();
    }

    /** Returns all streams, the legacy one first, for the reader of their output. */
    public List<Stream> allStreams() {
        synchronized (order) {
            List<Stream> all = new ArrayList<>();
            all.add(legacy);
            streams.removeIf(Stream::isGone);
            all.addAll(streams);
            return all;
        }
    }
}
