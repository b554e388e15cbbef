package io.tessera.executor.call.memory;

import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * Memory that one client's program made itself, and its mappings. Memory is charged as long as a handle or a mapping refers to it. One owner thread.
 */
final class VirtualMemory {
    private final Map<Long, Made> byHandle = new HashMap<>();
    private final TreeMap<Long, Mapping> mappings = new TreeMap<>();

    /** Memory of cuMemCreate. */
    static final class Made {
        final long bytes;
        boolean held = true;
        int mapped;

        Made(long bytes) {
            this.bytes = bytes;
        }

        /** Returns whether neither a handle nor a mapping refers to it. */
        boolean isOver() {
            return !held && mapped == 0;
        }
    }

    /** Memory at an address. */
    static final class Mapping {
        final long address;
        final Made made;
        int access;

        Mapping(long address, Made made) {
            this.address = address;
            this.made = made;
        }

        long bytes() {
            return made.bytes;
        }
    }

    /** Records that memory was made, under the client's handle. */
    void created(long handle, long bytes) {
        byHandle.put(handle, new Made(bytes));
    }

    /** Returns the memory of a handle of the client; null if there is none. */
    Made made(long handle) {
        return byHandle.get(handle);
    }

    /** Records that a handle was requested for the memory at an address. */
    void retained(long handle, long address) {
        Mapping mapping = at(address);
        if (mapping != null) {
            mapping.made.held = true;
            byHandle.put(handle, mapping.made);
        }
    }

    /** Removes a handle whose last reference was released. Returns the bytes that are no longer charged. */
    long released(long handle) {
        Made made = byHandle.remove(handle);
        if (made == null) {
            return 0;
        }
        made.held = false;
        return made.isOver() ? made.bytes : 0;
    }

    void mapped(long address, Made made) {
        made.mapped++;
        mappings.put(address, new Mapping(address, made));
    }

    /** Removes a mapping. Returns the bytes that are no longer charged. */
    long unmapped(long address) {
        Mapping mapping = mappings.remove(address);
        if (mapping == null) {
            return 0;
        }
        mapping.made.mapped--;
        return mapping.made.isOver() ? mapping.made.bytes : 0;
    }

    /** Returns the mapping around an address; null if there is none. */
    Mapping at(long address) {
        Map.Entry<Long, Mapping> entry = mappings.floorEntry(address);
        return entry != null && address - entry.getKey() < entry.getValue().bytes() ? entry.getValue() : null;
    }
}
