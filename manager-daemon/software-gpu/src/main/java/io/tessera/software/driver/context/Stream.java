package io.tessera.software.driver.context;

import io.tessera.device.CudaError;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.graph.GraphExec;
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
    /** CU_STREAM_NON_BLOCKING. */
    public static final int NON_BLOCKING = 1;
    /** CU_EVENT_RECORD_EXTERNAL and CU_EVENT_WAIT_EXTERNAL: a node of its own also in a capture. */
    public static final int EXTERNAL = 1;

    /** One object for all tasks of the stream, by which workers tell streams apart. */
    private final Output printer = this::print;
    private final Context context;
    private final int flags;
    private final int priority;
    private final long id;
    private final boolean legacy;
    private final StreamOutput output = new StreamOutput();
    private final Map<Integer, byte[]> attributes = new ConcurrentHashMap<>();
    private Task tail;
    private Capture capture;

    Stream(Context context, int flags, int priority, long id, boolean legacy) {
        this.context = context;
        this.flags = flags;
        this.priority = priority;
        this.id = id;
        this.legacy = legacy;
    }

    /** Whose it is. */
    public Context context() {
        return context;
    }

    /** CUstream_flags. */
    public int flags() {
        return flags;
    }

    /** Its priority; kept, and without effect: kernels share all cores. */
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
        output.add(text, context.limits().printBytes());
    }

    /** What its kernels printed. */
    public StreamOutput output() {
        return output;
    }

    /** Whether the legacy default stream and this one wait for each other. */
    boolean blocking() {
        return (flags & NON_BLOCKING) == 0;
    }

    /** The last task, null if it never had one. */
    Task tail() {
        return tail;
    }

    /** The capture that it takes part in, null for none. */
    public Capture capture() {
        return capture;
    }

    void setCapture(Capture next) {
        capture = next;
    }

    /** Submits an operation; returns its task, or null if it was captured. */
    public Task submit(Operation operation) {
        Task task;
        synchronized (context.order()) {
            if (captures()) {
                capture.add(this, operation);
                return null;
            }
            task = follow(context.newTask(operation, printer));
        }
        return task.submit();
    }

    /** Whether operations are captured now; ends the entry if the capture was invalidated, or this stream may not. */
    boolean captures() {
        if (capture == null) {
            CaptureRules.checkImplicit(this);
            return false;
        }
        DriverException.require(!capture.invalidated(), CudaError.STREAM_CAPTURE_INVALIDATED);
        return true;
    }

    /** Puts a task at the end. Under the order lock. */
    private Task follow(Task task) {
        precede(task);
        tail = task;
        return task;
    }

    private void precede(Task task) {
        task.after(tail);
        if (legacy) {
            context.eachStream(stream -> {
                if (stream.blocking()) {
                    task.after(stream.tail());
                }
            });
        } else if (blocking()) {
            task.after(context.legacy().tail());
        }
    }

    /** Records an event. */
    public void record(Event event, int recordFlags) {
        Task task;
        synchronized (context.order()) {
            if (captures()) {
                if ((recordFlags & EXTERNAL) != 0) {
                    capture.add(this, new EventRecord(event));
                } else {
                    event.capture(capture.point(this));
                }
                return;
            }
            Event.Recording recording = Event.newRecording(context.services().clock());
            task = follow(context.newTask(recording, printer));
            event.record(recording.carriedBy(task));
        }
        task.submit();
    }

    /** Waits for an event's last record. */
    public void await(Event event, int waitFlags) {
        Task task;
        synchronized (context.order()) {
            if (event.captured() instanceof Capture.Point point) {
                CaptureRules.join(this, point);
                return;
            }
            if (captures()) {
                if ((waitFlags & EXTERNAL) == 0) {
                    capture.invalidate();
                    throw new DriverException(CudaError.STREAM_CAPTURE_ISOLATION);
                }
                capture.add(this, new EventWait(event));
                return;
            }
            task = follow(context.newTask(Nothing.INSTANCE, printer)).after(event.task());
        }
        task.submit();
    }

    /** Launches an executable graph; ends the entry if this stream captures and cannot take it. */
    public void launch(GraphExec exec) {
        GraphExec.Launch launch;
        synchronized (context.order()) {
            DriverException.require(!captures(), CudaError.STREAM_CAPTURE_UNSUPPORTED);
            launch = exec.launch(context.environment(printer));
            precede(launch.head());
            tail = launch.tail();
        }
        // As many tasks as there are nodes: made while other streams may go on.
        launch.submit();
    }

    /** A task that ends when all that was submitted so far has; ends the entry if this stream captures. */
    public Task marker() {
        Task task;
        synchronized (context.order()) {
            CaptureRules.forbidWait(this);
            if (!legacy) {
                return tail;
            }
            task = context.newTask(Nothing.INSTANCE, printer);
            precede(task);
        }
        return task.submit();
    }
}
