package io.tessera.software.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tessera.device.DriverEntry;
import io.tessera.device.DriverOptions;
import io.tessera.device.DriverPort;
import io.tessera.device.DriverUnavailableException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/** A software GPU opened for a test, with a current context; calls entries with slots as an executor does. */
final class Port implements AutoCloseable {
    static final long MEMORY_BYTES = 256L << 20;

    final Arena arena = Arena.ofShared();
    private final DriverPort driver;

    Port() {
        try {
            driver = new SoftwareDriverProvider().open(new DriverOptions(0, MEMORY_BYTES));
        } catch (DriverUnavailableException e) {
            throw new IllegalStateException(e);
        }
        ok(DriverEntry.cuInit, 0);
        makeCurrent(made(DriverEntry.cuDevicePrimaryCtxRetain, 0));
    }

    DriverPort driver() {
        return driver;
    }

    void makeCurrent(long context) {
        ok(DriverEntry.cuCtxSetCurrent, context);
    }

    /** Calls an entry; strings and segments become pointers. */
    int call(DriverEntry entry, Object... arguments) {
        try (Arena call = Arena.ofConfined()) {
            MemorySegment slots = call.allocate(8L * Math.max(1, arguments.length), 8);
            for (int i = 0; i < arguments.length; i++) {
                slots.setAtIndex(ValueLayout.JAVA_LONG, i, switch (arguments[i]) {
                    case null -> 0L;
                    case Long value -> value;
                    case Integer value -> (long) value;
                    case String text -> call.allocateFrom(text).address();
                    case MemorySegment segment -> segment.address();
                    default -> throw new IllegalArgumentException(arguments[i].toString());
                });
            }
            return driver.call(entry, slots);
        }
    }

    /** Calls an entry that has to succeed. */
    void ok(DriverEntry entry, Object... arguments) {
        assertEquals(0, call(entry, arguments), entry + Arrays.toString(arguments));
    }

    /** Calls an entry that has to fail with a code. */
    void fails(int code, DriverEntry entry, Object... arguments) {
        assertEquals(code, call(entry, arguments), entry + Arrays.toString(arguments));
    }

    /** Calls an entry whose first argument is where it writes 64 bits; these. */
    long made(DriverEntry entry, Object... others) {
        MemorySegment out = arena.allocate(8, 8);
        Object[] all = new Object[others.length + 1];
        all[0] = out;
        System.arraycopy(others, 0, all, 1, others.length);
        ok(entry, all);
        return out.get(ValueLayout.JAVA_LONG, 0);
    }

    /** Calls an entry whose first argument is where it writes 32 bits; these. */
    int number(DriverEntry entry, Object... others) {
        return (int) made(entry, others);
    }

    long alloc(long bytes) {
        return made(DriverEntry.cuMemAlloc_v2, bytes);
    }

    long stream() {
        return made(DriverEntry.cuStreamCreate, 1);
    }

    long event() {
        return made(DriverEntry.cuEventCreate, 0);
    }

    /** Host memory that the device may touch. */
    MemorySegment pinned(long bytes) {
        return MemorySegment.ofAddress(made(DriverEntry.cuMemHostAlloc, bytes, 0)).reinterpret(bytes);
    }

    MemorySegment ints(int... values) {
        return arena.allocateFrom(ValueLayout.JAVA_INT, values);
    }

    int[] readInts(long device, int count) {
        MemorySegment host = arena.allocate(4L * count, 8);
        ok(DriverEntry.cuMemcpyDtoH_v2, host, device, 4L * count);
        return host.toArray(ValueLayout.JAVA_INT);
    }

    /** Loads PTX and finds a function in it. */
    long function(String ptx, String name) {
        return made(DriverEntry.cuModuleGetFunction, made(DriverEntry.cuModuleLoadData, ptx), name);
    }

    /** Returns the addresses of parameters, each in eight bytes of its own. */
    MemorySegment parameters(long... values) {
        MemorySegment pointers = arena.allocate(8L * Math.max(1, values.length), 8);
        for (int i = 0; i < values.length; i++) {
            pointers.setAtIndex(ValueLayout.JAVA_LONG, i,
                    arena.allocateFrom(ValueLayout.JAVA_LONG, values[i]).address());
        }
        return pointers;
    }

    void launch(long function, int blocks, int threads, long stream, long... parameters) {
        ok(DriverEntry.cuLaunchKernel, function, blocks, 1, 1, threads, 1, 1, 0, stream, parameters(parameters), 0);
    }

    @Override
    public void close() {
        driver.close();
        arena.close();
    }
}
