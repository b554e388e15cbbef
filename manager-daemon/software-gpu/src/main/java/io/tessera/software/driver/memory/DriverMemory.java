package io.tessera.software.driver.memory;

import io.tessera.device.CudaError;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.memory.DeviceMemory;
import io.tessera.software.memory.OutOfDeviceMemoryException;

/**
 * The memory that programs see: the device's arena, and the driver's additional information on each address. Thread-safe. No method waits for kernels: the
 * caller that frees memory ensures that no kernel uses it.
 */
public final class DriverMemory {
    private final DeviceMemory device;
    private final AddressMap addresses = new AddressMap();
    private final HostPages hostPages = new HostPages();

    /** Memory over an arena. */
    public DriverMemory(DeviceMemory device) {
        this.device = device;
    }

    /** Returns the arena below. */
    public DeviceMemory device() {
        return device;
    }

    /** Returns what addresses mean. */
    public AddressMap addresses() {
        return addresses;
    }

    /** Takes device memory; ends the entry with OUT_OF_MEMORY if there is none, INVALID_VALUE for no bytes. */
    public AddressRange allocate(long bytes, AddressRange.Kind kind, long context) {
        DriverException.require(bytes != 0, CudaError.INVALID_VALUE);
        // Sizes are unsigned: a negative one is larger than any memory.
        DriverException.require(bytes > 0 && bytes <= device.capacityBytes(), CudaError.OUT_OF_MEMORY);
        AddressRange made;
        try {
            made = addresses.describe(device.allocate(bytes), bytes, kind, context, 0);
        } catch (OutOfDeviceMemoryException e) {
            throw new DriverException(CudaError.OUT_OF_MEMORY, e.getMessage());
        }
        addresses.add(made, CudaError.UNKNOWN);
        return made;
    }

    /** Makes an allocation's addresses unknown, so that no later copy or kernel of the program may name them. */
    public boolean forget(AddressRange allocation) {
        return addresses.remove(allocation.address()) != null;
    }

    /** Gives a forgotten allocation's memory back to the arena. */
    public void giveBack(AddressRange allocation) {
        device.free(allocation.address());
    }

    /** Forgets and gives back at once. */
    public void free(AddressRange allocation) {
        if (forget(allocation)) {
            giveBack(allocation);
        }
    }

    /** Allocates host memory that kernels may touch. */
    public AddressRange allocateHost(long bytes, long context, int flags) {
        DriverException.require(bytes > 0, CudaError.INVALID_VALUE);
        long address = hostPages.allocate(bytes);
        return known(address, bytes, AddressRange.Kind.HOST_ALLOCATED, context, flags);
    }

    /** Lets kernels touch host memory of the program. */
    public AddressRange registerHost(long address, long bytes, long context, int flags) {
        DriverException.require(address != 0 && bytes > 0, CudaError.INVALID_VALUE);
        return known(address, bytes, AddressRange.Kind.HOST_REGISTERED, context, flags);
    }

    private AddressRange known(long address, long bytes, AddressRange.Kind kind, long context, int flags) {
        AddressRange made = addresses.describe(address, bytes, kind, context, flags);
        addresses.add(made, CudaError.HOST_MEMORY_ALREADY_REGISTERED);
        try {
            device.registerHost(address, bytes);
        } catch (IllegalArgumentException e) {
            addresses.remove(address);
            throw new DriverException(CudaError.HOST_MEMORY_ALREADY_REGISTERED, e.getMessage());
        }
        return made;
    }

    /** Takes host memory from the device; frees it if it was allocated here. */
    public void releaseHost(AddressRange allocation) {
        if (forget(allocation)) {
            device.unregisterHost(allocation.address());
            if (allocation.kind() == AddressRange.Kind.HOST_ALLOCATED) {
                hostPages.free(allocation.address());
            }
        }
    }
}
