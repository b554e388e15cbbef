package io.tessera.software.driver.context;

import io.tessera.device.CudaEnums.EventRecordFlag;
import io.tessera.device.CudaEnums.EventWaitFlag;
import io.tessera.device.CudaEnums.StreamFlag;
import io.tessera.device.CudaError;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.graph.GraphExec;
import io.tessera.software.driver.operation.Action;
import io.tessera.software.driver.operation.EventRecord;
import io.tessera.software.driver.operation.EventWait;
import io.tessera.software.driver.operation.Nothing;
import io.tessera.software.driver.work.Event;
import io.tessera.software.driver.work.Operation;
import io.tessera.software.driver.work.Output;
import io.tessera.software.driver.work.Task;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A stream: work in order. The legacy default stream waits for all blocking streams, and they for it. Thread-safe; the
 * order of submission is decided under the context's order lock.
 */
public final class Stream {
    /** One object for all tasks of the stream, by which workers distinguish streams. */
    private final Output printer = this::print;
    private final WorkOrder order;
    private final WorkOrder.Tail tail;
    private final int flags;
    private final int priority;
    private final long id;
    private final StreamOutput output = new StreamOutput();
    private final Map<Integer, byte[]> attributes = new ConcurrentHashMap<>();
    private Capture capture;

    /** A stream with an end that no other one has: {@link WorkOrder#legacy} or a new one. */
    Stream(WorkOrder order, WorkOrder.Tail tail, int flags, int priority, long id) {
        this.order = order;
        this.tail = tail;
        this.flags = flags;
        this.priority = priority;
        this.id = id;
    }

    /** Returns the handle of the context that it belongs to. */
    public long context() {
        return order.context();
    }

    /** Ends the entry if its context has ended or is lost. */
    public void check() {
        order.check();
    }

    /** Returns what decides when its work is done, and the lock for it. */
    WorkOrder order() {
        return order;
    }

    /** CUstream_flags. */
    public int flags() {
        return flags;
    }

    /** Returns its priority, which has no effect: kernels share all cores. */
    public int priority() {
        return priority;
    }

    /** A number that no other stream of the process has. */
    public long id() {
        return id;
    }

    /** Attributes that the program set, 64 bytes each by CUstreamAttrID; they are hints without effect here. */
    public Map<Integer, byte[]> attributes() {
        return attributes;
    }

    /** Sets an attribute. */
    public void setAttribute(int attribute, byte[] value) {
        attributes.put(attribute, value.clone());
    }

    /** Takes over another stream's attributes. */
    public void setAttributes(Map<Integer, byte[]> others) {
        attributes.putAll(others);
    }

    void print(byte[] text) {
        output.add(text, order.limits().printBytes());
    }

    /** Returns the output of its kernels. */
    public StreamOutput output() {
        return output;
    }

    /** Returns whether the legacy default stream and this one wait for each other. */
    boolean blocking() {
        return isBlocking(flags);
    }

    static boolean isBlocking(int flags) {
        return (flags & StreamFlag.NON_BLOCKING) == 0;
    }

    /** Returns whether it is the legacy default stream. */
    boolean legacy() {
        return tail == order.legacy();
    }

    /** Returns the capture that it takes part in, null for none. */
    public Capture capture() {
        return capture == null || capture.over() ? null : capture;
    }

    void setCapture(Capture next) {
        capture = next;
    }

    /** Submits an operation; returns its task, or null if it was captured. */
    public Task submit(Operation operation) {
        Task task;
        synchronized (order) {
            if (captures()) {
                capture.add(id, operation);
                return null;
            }
            task = follow(order.newTask(operation, printer));
        }
        return task.submit();
    }

    /** Returns whether operations are captured now; ends the entry if the capture was invalidated, or this stream may not. */
    boolean captures() {
        capture = capture();
        if (capture == null) {
            checkImplicit();
            return false;
        }
        DriverException.require(!capture.invalidated(), CudaError.STREAM_CAPTURE_INVALIDATED);
        return true;
    }

    /** Puts a task at the end. Under the order lock. */
    private Task follow(Task task) {
        order.precede(tail, task);
        order.append(tail, task);
        return task;
    }

    /** Records an event. */
    public void record(Event event, int recordFlags) {
        Task task;
        synchronized (order) {
            if (captures()) {
                if ((recordFlags & EventRecordFlag.EXTERNAL) != 0) {
                    capture.add(id, new EventRecord(event));
                } else {
                    event.capture(capture.point(id));
                }
                return;
            }
            Event.Recording recording = Event.newRecording(order.services().clock());
            task = follow(order.newTask(recording, printer));
            event.record(recording.carriedBy(task));
        }
        task.submit();
    }

    /** Waits for an event's last record. */
    public void await(Event event, int waitFlags) {
        Task task;
        synchronized (order) {
            if (event.captured() instanceof Capture.Point point) {
                join(point);
                return;
            }
            if (captures()) {
                if ((waitFlags & EventWaitFlag.EXTERNAL) == 0) {
                    capture.invalidate();
                    throw new DriverException(CudaError.STREAM_CAPTURE_ISOLATION);
                }
                capture.add(id, new EventWait(event));
                return;
            }
            task = follow(order.newTask(Nothing.INSTANCE, printer)).after(event.task());
        }
        task.submit();
    }

    /** Launches an executable graph; ends the entry if this stream captures and cannot take it. */
    public void launch(GraphExec exec) {
        GraphExec.Launch launch;
        synchronized (order) {
            DriverException.require(!captures(), CudaError.STREAM_CAPTURE_UNSUPPORTED);
            launch = exec.launch(order.environment(printer));
            order.precede(tail, launch.head());
            order.append(tail, launch.tail());
        }
        // As many tasks as there are nodes: made while other streams continue.
        launch.submit();
    }

    /** A task that ends when all that was submitted so far has; ends the entry if this stream captures. */
    public Task marker() {
        Task task;
        synchronized (order) {
            forbidWait();
            if (!legacy()) {
                return tail.last();
            }
            task = order.newTask(Nothing.INSTANCE, printer);
            order.precede(tail, task);
        }
        return task.submit();
    }

    /** Destroys the stream; its work continues, and a thread that waits for the context waits for it. */
    public void destroy() {
        synchronized (order) {
            if (capture() != null) {
                capture.invalidate();
            }
            Task last = tail.last();
            if (last == null || last.isDone()) {
                order.remove(tail);
                return;
            }
            Task after = order.newTask(new Action(() -> {
                synchronized (order) {
                    order.remove(tail);
                }
            }), this::print).after(last);
            // Outside of the streams' own order: nothing waits for it.
            after.submit();
        }
    }

    /** Returns whether it was destroyed, and its work is done. Under the order lock. */
    boolean isGone() {
        return !legacy() && !order.contains(tail);
    }

    /** Waits for a captured event: the stream takes part in that capture from now on. */
    private void join(Capture.Point point) {
        Capture joined = point.capture();
        DriverException.require(order.captures().contains(joined), CudaError.INVALID_VALUE);
        DriverException.require(!joined.invalidated(), CudaError.STREAM_CAPTURE_INVALIDATED);
        if (legacy()) {
            joined.invalidate();
            throw new DriverException(CudaError.STREAM_CAPTURE_IMPLICIT);
        }
        Capture mine = capture();
        if (mine != null && mine != joined) {
            joined.invalidate();
            mine.invalidate();
            throw new DriverException(CudaError.STREAM_CAPTURE_MERGE);
        }
        capture = joined;
        joined.join(id, blocking(), point);
    }

    /** The legacy stream cannot take work while a blocking stream captures: it would wait for what never runs. */
    private void checkImplicit() {
        if (!legacy()) {
            return;
        }
        for (Capture open : order.captures()) {
            if (open.blocking()) {
                open.invalidate();
                throw new DriverException(CudaError.STREAM_CAPTURE_IMPLICIT);
            }
        }
    }

    /** Ends the entry if the stream is captured: it is not possible to wait for such a stream. */
    private void forbidWait() {
        Capture mine = capture();
        if (mine != null) {
            mine.invalidate();
            throw new DriverException(CudaError.STREAM_CAPTURE_UNSUPPORTED);
        }
        checkImplicit();
    }
}
