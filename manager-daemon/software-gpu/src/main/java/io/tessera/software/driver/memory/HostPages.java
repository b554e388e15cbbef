package io.tessera.software.driver.memory;

import io.tessera.device.CudaError;
import io.tessera.software.driver.abi.DriverException;
import java.lang.foreign.Arena;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Host memory that the driver allocates for the program, in whole pages. Thread-safe. */
final class HostPages {
    private static final long PAGE = 4096;

    private final Map<Long, Arena> arenas = new ConcurrentHashMap<>();

    /** Zeroed pages; ends the entry with OUT_OF_MEMORY if there are none. */
    long allocate(long bytes) {
        Arena arena = Arena.ofShared();
        try {
            long address = arena.allocate((bytes + PAGE - 1) / PAGE * PAGE, PAGE).address();
            arenas.put(address, arena);
            return address;
        } catch (OutOfMemoryError e) {
            arena.close();
            throw new DriverException(CudaError.OUT_OF_MEMORY, bytes + " bytes of host memory");
        }
    }

    /** Gives pages back. */
    void free(long address) {
        Arena arena = arenas.remove(address);
        if (arena != null) {
            arena.close();
        }
    }
}
