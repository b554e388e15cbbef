package io.tessera.executor.memory;

/**
 * Memory that a client may name.
 *
 * @param address first byte; a device address, for pinned memory the same on the host
 * @param bytes   its size, above 0
 * @param origin  where it came from
 * @param context the client's context in which it was made
 * @param charged bytes that count against the tenant's limit for it
 * @param owner   handle of the object with which it ends (module, library); 0: none
 */
public record MemoryRange(long address, long bytes, Origin origin, int context, long charged, long owner) {
    /** The origin of memory, which determines how it is freed. */
    public enum Origin {
        /** cuMemAlloc and its like: freed by cuMemFree. */
        ALLOCATED,
        /** cuMemAllocAsync and its like: freed by cuMemFreeAsync or cuMemFree. */
        POOLED,
        /** A mapping of the program's own allocation handles: ends by cuMemUnmap. */
        MAPPED,
        /** A mapping of the program's own to which it has not given itself access: nothing can be copied there. */
        SHUT,
        /** An address range without memory: ends by cuMemAddressFree. Nothing can be copied there. */
        RESERVED,
        /** A variable of a module: ends with it. */
        GLOBAL,
        /** Memory of a graph's allocation node: the program may free it like pooled memory. */
        GRAPH,
        /** Another client's of the tenant, by an IPC handle: ends by cuIpcCloseMemHandle. */
        OPENED,
        /** Pinned memory of the relay. */
        PINNED
    }

    /** Returns the first address behind it. */
    public long end() {
        return address + bytes;
    }
}
