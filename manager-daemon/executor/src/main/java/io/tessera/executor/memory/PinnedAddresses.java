package io.tessera.executor.memory;

import io.tessera.os.LinuxException;
import io.tessera.os.SharedMemoryPort;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Where in the address space the relay's pinned memory goes (RELAY.md, section 6): upwards, and around at the end.
 * Thread-safe.
 */
public final class PinnedAddresses {
    /** Huge pages of the device's tables are this large; memory begins at multiples. */
    private static final long ALIGNMENT = 2L << 20;
    private static final int MOST_TRIES = 4096;

    private final SharedMemoryPort memory;
    private final DeviceAddresses addresses;
    private long next;

    /** Everything of a device's part is free as far as is known. */
    public PinnedAddresses(SharedMemoryPort memory, DeviceAddresses addresses) {
        this.memory = memory;
        this.addresses = addresses;
        this.next = addresses.first();
    }

    /**
     * Maps memory at an address that is free here.
     *
     * @param notBelow lowest address that the client can have; 0: any
     * @return the mapping; {@link SharedMemoryPort#TAKEN} if there is no room
     */
    public synchronized MemorySegment map(int descriptor, long bytes, long notBelow, Arena arena)
            throws LinuxException {
        long at = Long.compareUnsigned(notBelow, next) > 0 ? align(notBelow) : next;
        for (int i = 0; i < MOST_TRIES; i++) {
            if (!addresses.holds(at, bytes)) {
                if (notBelow != 0 || !addresses.holds(addresses.first(), bytes)) {
                    return SharedMemoryPort.TAKEN;
                }
                at = addresses.first();
            }
            MemorySegment mapped = memory.mapAt(descriptor, at, bytes, arena);
            at = align(at + bytes);
            if (!mapped.equals(SharedMemoryPort.TAKEN)) {
                next = at;
                return mapped;
            }
        }
        return SharedMemoryPort.TAKEN;
    }

    private static long align(long address) {
        return address + ALIGNMENT - 1 & -ALIGNMENT;
    }
}
