package io.tessera.software.driver.memory;

import io.tessera.device.CudaEnums.AccessFlag;
import io.tessera.device.CudaError;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.memory.DeviceMemory;
import io.tessera.software.memory.OutOfDeviceMemoryException;

/** The program's own virtual memory: addresses, memory, and which lies where. Thread-safe. */
public final class VirtualAddressSpace {
    /** More than any address range of a process on x86-64. */
    private static final long LARGEST = 1L << 47;

    private final DriverMemory memory;
    private final DeviceMemory device;

    /** Virtual memory of a device. */
    public VirtualAddressSpace(DriverMemory memory) {
        this.memory = memory;
        device = memory.device();
    }

    private static void requireGranular(long value) {
        DriverException.require(value > 0 && value <= LARGEST && value % DeviceMemory.PHYSICAL_GRANULARITY == 0,
                CudaError.INVALID_VALUE);
    }

    /** Reserves addresses; a wish that cannot be met is passed over, as the driver does. */
    public long reserve(long bytes, long alignment, long wish) {
        requireGranular(bytes);
        DriverException.require(alignment == 0 || Long.bitCount(alignment) == 1, CudaError.INVALID_VALUE);
        try {
            return device.reserve(bytes, alignment, wish);
        } catch (OutOfDeviceMemoryException e) {
            throw new DriverException(CudaError.OUT_OF_MEMORY, e.getMessage());
        }
    }

    /** Gives addresses back. */
    public void release(long address, long bytes) {
        DriverException.require(device.releaseReservation(address, bytes), CudaError.INVALID_VALUE);
    }

    /** Creates memory without an address. */
    public PhysicalMemory create(long bytes, byte[] properties) {
        requireGranular(bytes);
        DriverException.require(bytes <= device.capacityBytes(), CudaError.OUT_OF_MEMORY);
        try {
            return new PhysicalMemory(device.createPhysical(bytes), bytes, properties);
        } catch (OutOfDeviceMemoryException e) {
            throw new DriverException(CudaError.OUT_OF_MEMORY, e.getMessage());
        }
    }

    /** Creates a sink (DriverPort): of the least size, for mappings of any. */
    public PhysicalMemory createSink(long bytes, byte[] properties) {
        DriverException.require(bytes == DeviceMemory.PHYSICAL_GRANULARITY, CudaError.INVALID_VALUE);
        return new PhysicalMemory(device.createSink(), bytes, properties);
    }

    /** Drops a reference of the program; the memory is freed with the last reference and the last mapping. Returns true at the last. */
    public boolean drop(PhysicalMemory physical) {
        boolean last = physical.release();
        if (last) {
            device.releasePhysical(physical.handle());
        }
        return last;
    }

    /** Returns the memory that is mapped at an address, with a new reference, also if all others were dropped. */
    public PhysicalMemory retainAt(long address) {
        AddressRange mapping = memory.addresses().containing(address);
        DriverException.require(mapping != null && mapping.backing() != null, CudaError.INVALID_VALUE);
        if (mapping.backing().retain() && !device.retainPhysical(mapping.backing().handle())) {
            mapping.backing().release();
            throw new DriverException(CudaError.NOT_SUPPORTED);
        }
        return mapping.backing();
    }

    /** Maps memory; kernels may not touch it before {@link #setAccess}. */
    public void map(long address, long bytes, long offset, PhysicalMemory physical) {
        requireGranular(bytes);
        // CUDA 13.0 maps memory as a whole and no part of it.
        DriverException.require(offset == 0 && (bytes == physical.bytes() || device.isSink(physical.handle())),
                CudaError.NOT_SUPPORTED);
        AddressRange mapping = memory.addresses().describe(address, bytes, AddressRange.Kind.MAPPED, 0, 0);
        mapping.setBacking(physical);
        try {
            device.map(address, bytes, offset, physical.handle());
        } catch (IllegalArgumentException e) {
            throw new DriverException(CudaError.INVALID_VALUE, e.getMessage());
        }
        memory.addresses().add(mapping, CudaError.ALREADY_MAPPED);
    }

    /** Lets kernels touch whole mappings, or forbids it. The arena knows no memory that is only read. */
    public void setAccess(long address, long bytes, int access) {
        DriverException.require(access == AccessFlag.NONE || access == AccessFlag.READ || access == AccessFlag.READWRITE,
                CudaError.INVALID_VALUE);
        try {
            device.setAccess(address, bytes, access != AccessFlag.NONE);
        } catch (IllegalArgumentException e) {
            throw new DriverException(CudaError.INVALID_VALUE, e.getMessage());
        }
    }

    /** Returns the access of kernels at an address of a mapping. */
    public int access(long address) {
        DriverException.require(memory.addresses().containing(address) != null, CudaError.INVALID_VALUE);
        return device.map().allows(address, 1) ? AccessFlag.READWRITE : AccessFlag.NONE;
    }

    /** Unmaps whole mappings; the addresses stay reserved. */
    public void unmap(long address, long bytes) {
        try {
            device.unmap(address, bytes);
        } catch (IllegalArgumentException e) {
            throw new DriverException(CudaError.INVALID_VALUE, e.getMessage());
        }
        for (long at = address; at < address + bytes;) {
            at = memory.addresses().remove(at).end();
        }
    }
}
