package io.tessera.software.driver.memory;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A range of addresses that means something to the device. Immutable but for what programs may set.
 */
public final class AddressRange {
    /** Kind of the range. */
    public enum Kind {
        /** Device memory. */
        DEVICE,
        /** Device memory behind addresses that the program reserved and mapped. */
        MAPPED,
        /** Host memory that the driver allocated. */
        HOST_ALLOCATED,
        /** Host memory that the program registered. */
        HOST_REGISTERED,
        /** Storage of a CUDA array: no pointer of the program leads there. */
        ARRAY,
        /** A variable of a module. */
        MODULE
    }

    private final long address;
    private final long bytes;
    private final Kind kind;
    private final long context;
    private final int flags;
    private final long id;
    private volatile long pool;
    private volatile PhysicalMemory backing;
    private volatile boolean synchronous;
    private final AtomicBoolean released = new AtomicBoolean();

    AddressRange(long address, long bytes, Kind kind, long context, int flags, long id) {
        this.address = address;
        this.bytes = bytes;
        this.kind = kind;
        this.context = context;
        this.flags = flags;
        this.id = id;
    }

    /** First address. */
    public long address() {
        return address;
    }

    /** Size as the program asked for it. */
    public long bytes() {
        return bytes;
    }

    /** First address behind it. */
    public long end() {
        return address + bytes;
    }

    /** Returns its kind. */
    public Kind kind() {
        return kind;
    }

    /** Returns whether it is host memory. */
    public boolean host() {
        return kind == Kind.HOST_ALLOCATED || kind == Kind.HOST_REGISTERED;
    }

    /** Returns the handle of the context in which it was made; 0 for memory without a context. */
    public long context() {
        return context;
    }

    /** The flags it was made with. */
    public int flags() {
        return flags;
    }

    /** A number that no other allocation of this device ever has (CU_POINTER_ATTRIBUTE_BUFFER_ID). */
    public long id() {
        return id;
    }

    /** Handle of the pool it came from, 0 for none. */
    public long pool() {
        return pool;
    }

    /** Returns whether the caller is the first to release it: the second one is wrong. */
    public boolean claimRelease() {
        return released.compareAndSet(false, true);
    }

    /** Sets the pool from which it came. */
    public void setPool(long handle) {
        pool = handle;
    }

    /** Returns the memory that is mapped here; null for all kinds but {@link Kind#MAPPED}. */
    public PhysicalMemory backing() {
        return backing;
    }

    void setBacking(PhysicalMemory physical) {
        backing = physical;
    }

    /** Returns whether the program asked that copies of it end before their entry returns. */
    public boolean synchronous() {
        return synchronous;
    }

    /** CU_POINTER_ATTRIBUTE_SYNC_MEMOPS. */
    public void setSynchronous(boolean on) {
        synchronous = on;
    }
}
