package io.tessera.bench.software;

/**
 * The measured kernels. Instructions are counted by hand in {@code kernels.ptx}: those of the loop, or of the thread if there is no loop,
 * times how often they run. The few instructions around a loop are not counted.
 */
public enum BenchmarkKernel {
    /** {@code c[i] = a[i] + b[i]}: 22 instructions a thread. */
    VECTOR_ADD("vector_add", 22L * BenchmarkSizes.COUNT),
    /** Per element and step of the inner loop 17 instructions for 4 products; 23 more per tile of 16. */
    TILED_GEMM("tiled_gemm", (17L * 4 + 23) * BenchmarkSizes.ROWS * BenchmarkSizes.ROWS * BenchmarkSizes.ROWS / 16),
    /** 8 instructions an element. */
    REDUCTION("reduction", 8L * BenchmarkSizes.COUNT),
    /** 14 instructions a word. */
    HISTOGRAM("histogram", 14L * BenchmarkSizes.COUNT);

    private final String kernel;
    private final long instructions;

    BenchmarkKernel(String kernel, long instructions) {
        this.kernel = kernel;
        this.instructions = instructions;
    }

    /** Name of its kernel. */
    String kernel() {
        return kernel;
    }

    /** PTX instructions that a launch executes. */
    public long instructions() {
        return instructions;
    }
}
