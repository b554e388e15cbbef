package io.tessera.software.driver.entry;

import io.tessera.device.CudaError;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.abi.HostMemory;
import io.tessera.software.driver.context.Context;
import io.tessera.software.driver.context.Stream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** One call of an entry: its arguments by position, typed. Used by the calling thread only. */
public final class Call {
    private static final long LEGACY = 1;
    private static final long PER_THREAD = 2;

    private final DriverState state;
    private final MemorySegment slots;
    private final boolean perThread;

    /**
     * Creates a call.
     *
     * @param perThread whether stream 0 is the calling thread's
     */
    public Call(DriverState state, MemorySegment slots, boolean perThread) {
        this.state = state;
        this.slots = slots;
        this.perThread = perThread;
    }

    /** 64 bits: a size, an address, a handle. */
    public long word(int index) {
        return slots.getAtIndex(ValueLayout.JAVA_LONG, index);
    }

    /** Returns the low 32 bits. */
    public int number(int index) {
        return (int) word(index);
    }

    /** A float. */
    public float real(int index) {
        return Float.intBitsToFloat(number(index));
    }

    /** A pointer that may not be null. */
    public long pointer(int index) {
        long pointer = word(index);
        DriverException.require(pointer != 0, CudaError.INVALID_VALUE);
        return pointer;
    }

    /** Returns whether a pointer was given. */
    public boolean given(int index) {
        return word(index) != 0;
    }

    /** Text behind a pointer that may not be null. */
    public String text(int index) {
        return HostMemory.string(pointer(index));
    }

    /** Writes 32 bits behind a pointer that may not be null. */
    public void putInt(int index, int value) {
        HostMemory.putInt(pointer(index), value);
    }

    /** Writes 64 bits behind a pointer that may not be null. */
    public void putLong(int index, long value) {
        HostMemory.putLong(pointer(index), value);
    }

    /** Writes 32 bits if a pointer was given. */
    public void offerInt(int index, int value) {
        if (given(index)) {
            putInt(index, value);
        }
    }

    /** Writes 64 bits if a pointer was given. */
    public void offerLong(int index, long value) {
        if (given(index)) {
            putLong(index, value);
        }
    }

    /** Returns the object of a handle. */
    public <T> T object(int index, Class<T> type) {
        return state.handles().get(word(index), type);
    }

    /** Returns the current context, which must work. */
    public Context context() {
        Context context = state.current();
        DriverException.require(context != null, CudaError.INVALID_CONTEXT);
        context.check();
        return context;
    }

    /** Returns the context that a handle names; 0 is the current one. */
    public Context context(int index) {
        return given(index) ? state.handles().get(word(index), Context.class, CudaError.INVALID_CONTEXT) : context();
    }

    /** A stream: 0 and the two special values are default streams of the current context. */
    public Stream stream(int index) {
        return stream(word(index));
    }

    /** As {@link #stream(int)}, for a handle that stands somewhere else. */
    public Stream stream(long handle) {
        if (handle == PER_THREAD || handle == 0 && perThread) {
            return context().perThread();
        }
        if (handle == LEGACY || handle == 0) {
            return context().legacy();
        }
        Stream stream = state.handles().get(handle, Stream.class);
        stream.check();
        return stream;
    }

    /** Checks that a device is the one there is. */
    public void device(int index) {
        DriverException.require(number(index) == 0, CudaError.INVALID_DEVICE);
    }
}
