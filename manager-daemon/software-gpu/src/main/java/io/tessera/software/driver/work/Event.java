package io.tessera.software.driver.work;

import io.tessera.device.CudaEnums.EventFlag;
import io.tessera.software.clock.DeviceClock;

/**
 * An event: its last record, and the time at which the device reached it. Thread-safe; a record replaces the one before it, and a thread that waits for the
 * older record continues to wait for that.
 */
public final class Event {
    private final int flags;
    private final FaultState fault;
    private volatile Recording recording;
    private volatile Captured captured;

    /** A point in a capture, instead of one in time. */
    public interface Captured {
    }

    /** One record: an operation for the stream, and the state for waiting threads. */
    public static final class Recording implements Operation {
        private final DeviceClock clock;
        private volatile Task task;
        private volatile long nanos;

        private Recording(DeviceClock clock) {
            this.clock = clock;
        }

        @Override
        public Place place() {
            return Place.HERE;
        }

        @Override
        public boolean run(Run running) {
            nanos = clock.nowNs();
            return true;
        }

        /** Binds it to the task that will run it; before that task is submitted. */
        public Recording carriedBy(Task carrier) {
            task = carrier;
            return this;
        }

        /** Returns the task that runs it. */
        public Task task() {
            return task;
        }

        /** Returns when it ran, in the clock's nanoseconds; 0 before. */
        public long nanos() {
            return nanos;
        }
    }

    /** An event with CUevent_flags. */
    public Event(int flags, FaultState fault) {
        this.flags = flags;
        this.fault = fault;
    }

    /** Returns the fault state of its context. */
    public FaultState fault() {
        return fault;
    }

    /** Returns whether it keeps times. */
    public boolean timed() {
        return (flags & EventFlag.DISABLE_TIMING) == 0;
    }

    /** A new record, not yet the event's own. */
    public static Recording newRecording(DeviceClock clock) {
        return new Recording(clock);
    }

    /** Makes a record, already bound to its task, the meaning of the event. */
    public void record(Recording next) {
        captured = null;
        recording = next;
    }

    /** Makes a point in a capture the meaning of the event. */
    public void capture(Captured point) {
        captured = point;
    }

    /** Returns the point in a capture, null if its last record was an ordinary one. */
    public Captured captured() {
        return captured;
    }

    /** Returns the last ordinary record, null if there was none. */
    public Recording recording() {
        return recording;
    }

    /** The task to wait for, null if nothing was recorded. */
    public Task task() {
        Recording last = recording;
        return last == null ? null : last.task();
    }

    /** Returns whether its last record was reached; true if there is none. */
    public boolean reached() {
        Task task = task();
        return task == null || task.isDone();
    }
}
