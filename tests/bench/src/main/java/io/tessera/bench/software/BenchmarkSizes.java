package io.tessera.bench.software;

/** Sizes of the kernels' data. */
final class BenchmarkSizes {
    /** Elements of vectors. */
    static final int COUNT = 1 << 20;
    /** Rows and columns of matrices. */
    static final int ROWS = 256;

    private BenchmarkSizes() {
    }
}
