package io.tessera.executor.driver;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.device.DriverPort;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.IntSupplier;
import java.util.function.LongPredicate;

/**
 * Calls of the driver by one thread, with memory for arguments and results. One owner thread; the memory ends with the
 * arena.
 */
public final class DriverCalls {
    private static final int MOST_ARGUMENTS = 32;
    private static final int OUT_BYTES = 512;
    /** Room that is made first for a call that lacked memory; each further attempt makes four times as much. */
    private static final long LEAST_ROOM_BYTES = 256L << 20;
    private static final int ROOM_TRIES = 3;

    private final DriverPort port;
    private final CallGate.Pass pass;
    private final MemorySegment slots;
    private final MemorySegment out;
    /** Gate at which synchronizing calls wait; null: no other client is in the context, or the caller does not wait for others. */
    private SynchronizationGate.Client synchronization;
    private LongPredicate room = _ -> false;
    private boolean asksForRoom = true;
    private DriverEntry unsupported;

    /** Creates an instance with memory of an arena that lives as long as this, for a process in which no other thread calls the driver often. */
    public DriverCalls(DriverPort port, Arena arena) {
        this(port, arena, new CallGate());
    }

    /** As above, for one of several threads, which share the gate. */
    public DriverCalls(DriverPort port, Arena arena, CallGate gate) {
        this.port = port;
        this.pass = gate.pass();
        this.slots = arena.allocate((long) MOST_ARGUMENTS * Long.BYTES, Long.BYTES);
        this.out = arena.allocate(OUT_BYTES, 64);
    }

    /** Makes synchronizing calls wait from now on until no stream of the context waits for its program. */
    public void waitAt(SynchronizationGate.Client client) {
        synchronization = client;
    }

    /** Makes the following calls in sequence, without calls of other threads between them, until {@link #burstEnds}; for a few short calls. */
    public void burstBegins() {
        pass.keep();
    }

    /** Ends the sequence: calls of other threads may come between again. */
    public void burstEnds() {
        pass.release();
    }

    /** Begins a wait in which the thread only polls whether work on the device is done: it counts as a single call. */
    void waitBegins() {
        if (synchronization != null) {
            synchronization.waitBegins();
        }
    }

    /** Ends such a wait; that work is done. */
    void waitEnds() {
        if (synchronization != null) {
            synchronization.waitEnds();
        }
    }

    /** Returns the driver. */
    public DriverPort port() {
        return port;
    }

    /**
     * Sets the function that makes room on the device if a driver lacks memory for its own needs: code, graphs, streams, or the memory of kernels beyond
     * their parameters.
     *
     * @param making receives a number of bytes; returns whether there is such room now, so that the call is repeated
     */
    public void room(LongPredicate making) {
        room = making;
    }

    /** Returns the entry that the driver last answered with NOT_SUPPORTED, once; null: none since it was taken. */
    public DriverEntry takeUnsupported() {
        DriverEntry entry = unsupported;
        unsupported = null;
        return entry;
    }

    /**
     * Makes calls for which no other tenant is asked to make room if the driver lacks memory: for a tenant that leaves the device, for which others
     * wait. Returns what they return.
     */
    public int withoutRoom(IntSupplier calls) {
        asksForRoom = false;
        try {
            return calls.getAsInt();
        } finally {
            asksForRoom = true;
        }
    }

    private boolean hasMoreRoom(DriverRow row, int result, int tries) {
        return result == CudaResult.OUT_OF_MEMORY && tries < ROOM_TRIES && row.needsRoom() && asksForRoom && room.test(LEAST_ROOM_BYTES << 2 * tries);
    }

    /**
     * Calls an entry with arguments as they fill its slots. Returns the CUresult; otherwise as {@link #call(DriverEntry, MemorySegment)}.
     */
    public int call(DriverEntry entry, long... arguments) {
        DriverRow row = DriverTable.row(entry);
        int result;
        int tries = 0;
        do {
            if (!waits(row)) {
                fill(arguments);
                result = submit(entry, row, slots);
                continue;
            }
            if (!synchronization.begin()) {
                return CudaResult.NOT_READY;
            }
            try {
                fill(arguments); // calls made during the wait have overwritten the slots
                result = submit(entry, row, slots);
            } finally {
                synchronization.end();
            }
        } while (hasMoreRoom(row, result, tries++));
        return result;
    }

    private void fill(long... arguments) {
        for (int i = 0; i < arguments.length; i++) {
            slots.setAtIndex(ValueLayout.JAVA_LONG, i, arguments[i]);
        }
    }

    /**
     * Calls an entry with arguments that are in their slots already. A synchronizing call waits until no stream of the context
     * waits for its program. NOT_READY: the call was not made, because the client is given up.
     */
    public int call(DriverEntry entry, MemorySegment arguments) {
        DriverRow row = DriverTable.row(entry);
        if (waits(row)) {
            return callSynchronizing(entry, arguments);
        }
        int result;
        int tries = 0;
        do {
            result = submit(entry, row, arguments);
        } while (hasMoreRoom(row, result, tries++));
        return result;
    }

    private boolean waits(DriverRow row) {
        return synchronization != null && synchronization.mayWaitIn(row);
    }

    /** Calls an entry at once, even if the driver may wait for streams in it: for calls that end such waits. */
    public int callAtOnce(DriverEntry entry, long... arguments) {
        fill(arguments);
        return submit(entry, DriverTable.row(entry), slots);
    }

    /** As above, for a call that only synchronizes in this case, which the caller knows. */
    public int callSynchronizing(DriverEntry entry, MemorySegment arguments) {
        DriverRow row = DriverTable.row(entry);
        int result;
        int tries = 0;
        do {
            if (synchronization != null && !synchronization.begin()) {
                return CudaResult.NOT_READY;
            }
            try {
                result = submit(entry, row, arguments);
            } finally {
                if (synchronization != null) {
                    synchronization.end();
                }
            }
        } while (hasMoreRoom(row, result, tries++));
        return result;
    }

    private int submit(DriverEntry entry, DriverRow row, MemorySegment arguments) {
        int result;
        boolean mayBeLong = synchronization != null && row.lockedForLong();
        long beginNs = mayBeLong ? synchronization.nowNs() : 0;
        pass.enter();
        if (synchronization != null) {
            synchronization.calls(entry);
        }
        try {
            result = port.call(entry, arguments);
        } finally {
            if (synchronization != null) {
                synchronization.returned();
            }
            pass.leave();
        }
        if (mayBeLong) {
            pass.release();
            LongCalls.giveWay(entry, synchronization, beginNs);
        }
        if (result == CudaResult.SUCCESS && synchronization != null) {
            synchronization.called(row);
        } else if (result == CudaResult.NOT_SUPPORTED) {
            unsupported = entry;
        }
        return result;
    }

    /** Clears one of the {@value #OUT_BYTES} / 8 places for a result, of eight bytes each, and returns its address. */
    public long out(int index) {
        out.setAtIndex(ValueLayout.JAVA_LONG, index, 0);
        return out.address() + (long) index * Long.BYTES;
    }

    /** Clears the whole room for results, and returns its address. */
    public long outRoom() {
        out.fill((byte) 0);
        return out.address();
    }

    /** Returns the room for results. */
    public MemorySegment outMemory() {
        return out;
    }

    /** Returns the result at {@link #out}. */
    public long outLong(int index) {
        return out.getAtIndex(ValueLayout.JAVA_LONG, index);
    }

    /** Returns the result at {@link #out}, its low half. */
    public int outInt(int index) {
        return out.get(ValueLayout.JAVA_INT, (long) index * Long.BYTES);
    }
}
