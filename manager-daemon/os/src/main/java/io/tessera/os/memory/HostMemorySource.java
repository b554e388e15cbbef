package io.tessera.os.memory;

/** The memory of the host, in bytes. Called by one thread. */
public interface HostMemorySource {
    /** Returns all memory; 0: not known. */
    long totalBytes();

    /** Returns the memory that programs can still have without swapping, as the kernel estimates it (MemAvailable); 0: not known. */
    long availableBytes();
}
