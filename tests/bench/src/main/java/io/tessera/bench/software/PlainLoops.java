package io.tessera.bench.software;

import java.util.Arrays;

/** The kernels' work on Java arrays, in the natural form of the language. Not thread-safe. */
final class PlainLoops {
    private final float[] a = new float[BenchmarkSizes.COUNT];
    private final float[] b = new float[BenchmarkSizes.COUNT];
    private final float[] c = new float[BenchmarkSizes.COUNT];
    private final int[] words = new int[BenchmarkSizes.COUNT];
    private final int[] bins = new int[256];

    PlainLoops() {
        for (int i = 0; i < BenchmarkSizes.COUNT; i++) {
            a[i] = BenchmarkDevice.first(i);
            b[i] = BenchmarkDevice.second(i);
            words[i] = Float.floatToIntBits(a[i]);
        }
    }

    /** Runs a workload; its result must be used, so that the JIT compiler does not remove the loop. */
    float run(BenchmarkKernel workload) {
        return switch (workload) {
            case VECTOR_ADD -> add();
            case TILED_GEMM -> multiply();
            case REDUCTION -> sum();
            case HISTOGRAM -> count();
        };
    }

    private float add() {
        for (int i = 0; i < a.length; i++) {
            c[i] = a[i] + b[i];
        }
        return c[1];
    }

    /** Each element as one sum of fused products, as the kernel has it. */
    private float multiply() {
        int n = BenchmarkSizes.ROWS;
        for (int row = 0; row < n; row++) {
            for (int column = 0; column < n; column++) {
                float sum = 0;
                for (int k = 0; k < n; k++) {
                    sum = Math.fma(a[row * n + k], b[k * n + column], sum);
                }
                c[row * n + column] = sum;
            }
        }
        return c[1];
    }

    private float sum() {
        float sum = 0;
        for (float value : a) {
            sum += value;
        }
        return sum;
    }

    private float count() {
        Arrays.fill(bins, 0);
        for (int word : words) {
            bins[word & 255]++;
            bins[word >>> 8 & 255]++;
        }
        return bins[0];
    }
}
