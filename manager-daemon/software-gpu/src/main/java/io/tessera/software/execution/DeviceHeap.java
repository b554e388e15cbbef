package io.tessera.software.execution;

import io.tessera.software.fault.FaultKind;
import io.tessera.software.fault.KernelTrap;
import io.tessera.software.memory.DeviceMemory;
import io.tessera.software.memory.OutOfDeviceMemoryException;
import java.util.HashMap;
import java.util.Map;

/** The heap of malloc and free in kernels; pieces live until they are freed or the device ends. Thread-safe. */
public final class DeviceHeap {
    private final DeviceMemory memory;
    private final Map<Long, Long> pieces = new HashMap<>();
    private long leftBytes;

    /** A heap of at most {@code limitBytes} inside the device's memory. */
    public DeviceHeap(DeviceMemory memory, long limitBytes) {
        this.memory = memory;
        this.leftBytes = limitBytes;
    }

    /** Address of a new piece, aligned to 512 bytes; 0 where there is no room, as malloc's null. */
    public synchronized long allocate(long bytes) {
        if (bytes <= 0 || bytes > leftBytes) {
            return 0;
        }
        try {
            long address = memory.allocate(bytes);
            pieces.put(address, bytes);
            leftBytes -= bytes;
            return address;
        } catch (OutOfDeviceMemoryException e) {
            // malloc in a kernel can report a failure only by null.
            return 0;
        }
    }

    /**
     * Frees a piece; null is allowed.
     *
     * @throws KernelTrap if no piece begins there
     */
    public synchronized void free(long address) {
        if (address == 0) {
            return;
        }
        Long bytes = pieces.remove(address);
        if (bytes == null) {
            throw new KernelTrap(FaultKind.TRAP, "free of 0x" + Long.toHexString(address)
                    + ", which malloc did not give");
        }
        leftBytes += bytes;
        memory.free(address);
    }
}
