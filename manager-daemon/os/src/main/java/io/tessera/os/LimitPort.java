package io.tessera.os;

/** Bounds that a process sets for itself and cannot take back. */
public interface LimitPort {
    /**
     * From now on the process gets no private memory beyond a bound (RLIMIT_DATA), and leaves no core file. What it has already counts;
     * address space that is reserved and memory that is shared do not.
     *
     * @param bytes of writable private memory, a multiple of the page size
     * @throws LinuxException if a smaller bound holds already
     */
    void dataBytes(long bytes) throws LinuxException;
}
