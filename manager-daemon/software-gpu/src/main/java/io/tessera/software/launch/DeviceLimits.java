package io.tessera.software.launch;

/**
 * Limits of one launch. Where programs depend on a number, it is that of compute capability 9.0.
 *
 * @param multiprocessors      number that programs see; equals the worker threads
 * @param threadsPerBlock      largest block
 * @param residentThreads      threads resident at once per multiprocessor; bounds cooperative launches
 * @param residentBlocks       blocks resident at once per multiprocessor
 * @param sharedBytesPerBlock  static and dynamic shared memory together
 * @param clusterBlocks        largest cluster
 * @param stackBytes           local memory of a thread whose calls have no static bound
 * @param heapBytes            memory for malloc in kernels
 */
public record DeviceLimits(int multiprocessors, int threadsPerBlock, int residentThreads, int residentBlocks,
        int sharedBytesPerBlock, int clusterBlocks, int stackBytes, long heapBytes) {
    /** Reserved by the system at the begin of each block's shared memory on 9.0; not counted in the limit. */
    public static final int RESERVED_SHARED_BYTES = 1024;

    /** Limits for a number of worker threads. */
    public static DeviceLimits of(int workers) {
        return new DeviceLimits(workers, 1024, 2048, 32, 227 << 10, 16, 64 << 10, 8L << 20);
    }
}
