package io.tessera.bench.memory;

/** Memory for a framework's tensors. Not thread-safe. */
public interface TensorMemory {
    /**
     * Allocates a tensor.
     *
     * @param bytes above 0
     * @return its number, which is reused after it is freed
     */
    int allocate(long bytes);

    /** Frees a tensor. */
    void free(int tensor);

    /** Returns unused cached memory to the driver, as torch.cuda.empty_cache does. */
    void emptyCache();
}
