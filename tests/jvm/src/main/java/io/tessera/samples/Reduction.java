package io.tessera.samples;

import static jcuda.driver.JCudaDriver.cuCtxDestroy;
import static jcuda.driver.JCudaDriver.cuLaunchKernel;
import static jcuda.driver.JCudaDriver.cuMemAlloc;
import static jcuda.driver.JCudaDriver.cuMemFree;
import static jcuda.driver.JCudaDriver.cuMemcpyDtoH;
import static jcuda.driver.JCudaDriver.cuMemcpyHtoD;

import java.io.IOException;
import java.util.SplittableRandom;
import jcuda.Pointer;
import jcuda.Sizeof;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUfunction;

/** Sums whole numbers in two launches, through shared memory. */
public final class Reduction {
    private static final int N = 300_007;
    private static final int THREADS = 128;
    private static final int BLOCKS = 64;

    private Reduction() {
    }

    /** Runs the program; no arguments. Ends with 0 if the sum is right. */
    public static void main(String[] arguments) throws IOException {
        SplittableRandom random = new SplittableRandom(3);
        int[] values = new int[N];
        int expected = 0;
        for (int i = 0; i < N; i++) {
            values[i] = random.nextInt(-1000, 1001);
            expected += values[i];
        }
        int sum = sum(values);
        ResultLine.end("reduction", N + " numbers, sum " + sum, sum == expected);
    }

    private static int sum(int[] values) throws IOException {
        CUcontext context = Gpu.open();
        CUfunction kernel = Gpu.kernel("reduction");
        CUdeviceptr numbers = new CUdeviceptr();
        cuMemAlloc(numbers, (long) N * Sizeof.INT);
        cuMemcpyHtoD(numbers, Pointer.to(values), (long) N * Sizeof.INT);
        CUdeviceptr sums = new CUdeviceptr();
        cuMemAlloc(sums, (long) BLOCKS * Sizeof.INT);
        CUdeviceptr total = new CUdeviceptr();
        cuMemAlloc(total, Sizeof.INT);
        launch(kernel, BLOCKS, numbers, sums, N);
        launch(kernel, 1, sums, total, BLOCKS);
        int[] sum = new int[1];
        cuMemcpyDtoH(Pointer.to(sum), total, Sizeof.INT);
        cuMemFree(numbers);
        cuMemFree(sums);
        cuMemFree(total);
        cuCtxDestroy(context);
        return sum[0];
    }

    private static void launch(CUfunction kernel, int blocks, CUdeviceptr from, CUdeviceptr into, int count) {
        Pointer parameters = Pointer.to(Pointer.to(from), Pointer.to(into), Pointer.to(new int[] {count}));
        cuLaunchKernel(kernel, blocks, 1, 1, THREADS, 1, 1, 0, null, parameters, null);
    }
}
