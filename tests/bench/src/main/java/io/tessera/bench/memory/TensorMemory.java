package io.tessera.bench.memory;

/** Where a framework's tensors live. Not thread-safe. */
public interface TensorMemory {
    /**
     * A tensor is made.
     *
     * @param bytes above 0
     * @return its number, used again after it is freed
     */
    int allocate(long bytes);

    /** A tensor is gone. */
    void free(int tensor);

    /** Cached memory that is not used goes back to the driver, as torch.cuda.empty_cache does. */
    void emptyCache();
}
