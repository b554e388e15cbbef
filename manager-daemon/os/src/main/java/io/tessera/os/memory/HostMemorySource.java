package io.tessera.os.memory;

/** The memory of the host, in bytes. Called by one thread. */
public interface HostMemorySource {
    /** All of it; 0: not known. */
    long totalBytes();

    /** What programs can still have without swapping, as the kernel estimates it (MemAvailable); 0: not known. */
    long availableBytes();
}
