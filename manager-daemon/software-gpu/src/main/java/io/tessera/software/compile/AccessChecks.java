package io.tessera.software.compile;

import io.tessera.software.memory.MemoryMap;
import io.tessera.software.memory.RealMemory;

/** Checks that compiled code makes before each access by a real address. Public for generated classes only. */
public final class AccessChecks {
    private AccessChecks() {
    }

    /**
     * Returns where the memory of an address lies, if the kernel may access that many bytes there.
     *
     * @throws io.tessera.software.memory.MemoryFault if not
     */
    public static long checked(long address, MemoryMap map, int bytes) {
        return map.checked(address, bytes);
    }

    /**
     * Adds to four bytes of memory that only one host thread writes, as a block's shared memory is; returns what was
     * there.
     */
    public static int addOwn(long address, int value) {
        int before = RealMemory.getInt(address);
        RealMemory.putInt(address, before + value);
        return before;
    }
}
