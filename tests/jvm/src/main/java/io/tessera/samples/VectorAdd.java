package io.tessera.samples;

import static jcuda.driver.JCudaDriver.cuCtxDestroy;
import static jcuda.driver.JCudaDriver.cuCtxSynchronize;
import static jcuda.driver.JCudaDriver.cuLaunchKernel;
import static jcuda.driver.JCudaDriver.cuMemFree;

import java.io.IOException;
import java.util.Arrays;
import java.util.SplittableRandom;
import jcuda.Pointer;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUfunction;

/** Adds two vectors on the GPU. */
public final class VectorAdd {
    private static final int N = 100_003; // no multiple of a block
    private static final int THREADS = 256;

    private VectorAdd() {
    }

    /** Runs the program; no arguments. Ends with 0 if the sum is right. */
    public static void main(String[] arguments) throws IOException {
        SplittableRandom random = new SplittableRandom(1);
        float[] a = new float[N];
        float[] b = new float[N];
        float[] expected = new float[N];
        for (int i = 0; i < N; i++) {
            a[i] = (float) random.nextDouble(-1, 1);
            b[i] = (float) random.nextDouble(-1, 1);
            expected[i] = a[i] + b[i];
        }
        float[] sum = add(a, b);
        ResultLine.end("vector add", N + " elements, digest " + ResultLine.digest(sum), Arrays.equals(sum, expected));
    }

    private static float[] add(float[] a, float[] b) throws IOException {
        CUcontext context = Gpu.open();
        CUfunction kernel = Gpu.kernel("vector_add");
        CUdeviceptr deviceA = Gpu.upload(a);
        CUdeviceptr deviceB = Gpu.upload(b);
        CUdeviceptr deviceC = Gpu.allocate(N);
        Pointer parameters = Pointer.to(Pointer.to(deviceA), Pointer.to(deviceB), Pointer.to(deviceC),
                Pointer.to(new int[] {N}));
        cuLaunchKernel(kernel, (N + THREADS - 1) / THREADS, 1, 1, THREADS, 1, 1, 0, null, parameters, null);
        cuCtxSynchronize();
        float[] sum = Gpu.download(deviceC, N);
        cuMemFree(deviceA);
        cuMemFree(deviceB);
        cuMemFree(deviceC);
        cuCtxDestroy(context);
        return sum;
    }
}
