package io.tessera.software.driver.entry;

import io.tessera.device.CudaError;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.context.Context;
import java.util.function.Consumer;
import java.util.function.IntFunction;

/** The device's primary context: made with the first reference, ended with the last. Thread-safe. */
public final class PrimaryContext {
    private final IntFunction<Context> make;
    private final Consumer<Context> end;
    private Context context;
    private int references;
    private int flags;

    /**
     * Creates an instance whose context is not made yet.
     *
     * @param make makes a context with flags
     * @param end  ends a context
     */
    PrimaryContext(IntFunction<Context> make, Consumer<Context> end) {
        this.make = make;
        this.end = end;
    }

    /** Adds a reference; the first one makes the context. */
    public synchronized Context retain() {
        if (context == null) {
            context = make.apply(flags);
        }
        references++;
        return context;
    }

    /** Gives one reference back; the last one ends the context. */
    public void release() {
        Context ended = null;
        synchronized (this) {
            DriverException.require(references > 0, CudaError.INVALID_CONTEXT);
            references--;
            if (references == 0) {
                ended = context;
                context = null;
            }
        }
        if (ended != null) {
            end.accept(ended);
        }
    }

    /** Ends the context whatever its references are: they count for the next one. */
    public void reset() {
        Context ended;
        synchronized (this) {
            ended = context;
            context = references > 0 && ended != null ? make.apply(flags) : null;
        }
        if (ended != null) {
            ended.fault().raise(CudaError.CONTEXT_IS_DESTROYED);
            end.accept(ended);
        }
    }

    /** Returns whether there is one. */
    public synchronized boolean active() {
        return context != null;
    }

    /** Returns the flags (CU_CTX_SCHED_*) that it has or will be made with. */
    public synchronized int flags() {
        return context == null ? flags : context.flags();
    }

    /** Sets the flags (CU_CTX_SCHED_*) of the context that is made next or is there. */
    public synchronized void setFlags(int next) {
        flags = next;
        if (context != null) {
            context.setFlags(next);
        }
    }
}
