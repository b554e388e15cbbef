package io.tessera.software.compile;

import io.tessera.software.memory.MemoryMap;

/** Checks that compiled code makes before each access by a real address. Public for generated classes only. */
public final class Access {
    private Access() {
    }

    /**
     * The address itself, if the kernel may access that many bytes there.
     *
     * @throws io.tessera.software.memory.MemoryFault if not
     */
    public static long checked(long address, MemoryMap map, int bytes) {
        map.check(address, bytes);
        return address;
    }
}
