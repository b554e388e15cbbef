package io.tessera.bench.memory;

/** Every tensor is an allocation of the driver, as with PYTORCH_NO_CUDA_MEMORY_CACHING=1. */
final class UncachedTensors implements TensorMemory {
    private final MemoryTrace trace;

    UncachedTensors(MemoryTrace trace) {
        this.trace = trace;
    }

    @Override
    public int allocate(long bytes) {
        return trace.begin(MemoryTrace.Kind.ALLOCATE, bytes);
    }

    @Override
    public void free(int tensor) {
        trace.end(MemoryTrace.Kind.FREE, tensor);
    }

    @Override
    public void emptyCache() {
        // Nothing is cached.
    }
}
