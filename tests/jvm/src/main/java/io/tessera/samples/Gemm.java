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

/** General matrix product, {@code C = alpha A B + beta C}, of small whole numbers, so that every digit is known. */
public final class Gemm {
    private static final int M = 90;
    private static final int N = 70;
    private static final int K = 110;
    private static final int TILE = 16;
    private static final float ALPHA = 2;
    private static final float BETA = -3;

    private Gemm() {
    }

    /** Runs the program; no arguments. Ends with 0 if the product is right. */
    public static void main(String[] arguments) throws IOException {
        SplittableRandom random = new SplittableRandom(2);
        float[] a = whole(random, M * K);
        float[] b = whole(random, K * N);
        float[] c = whole(random, M * N);
        float[] product = product(a, b, c);
        ResultLine.end("gemm", M + " x " + N + " x " + K + ", digest " + ResultLine.digest(product),
                Arrays.equals(product, expected(a, b, c)));
    }

    /** Sums of products of such numbers stay below 2^24, up to which floats are exact. */
    private static float[] whole(SplittableRandom random, int count) {
        float[] numbers = new float[count];
        for (int i = 0; i < count; i++) {
            numbers[i] = random.nextInt(-9, 10);
        }
        return numbers;
    }

    private static float[] product(float[] a, float[] b, float[] c) throws IOException {
        CUcontext context = Gpu.open();
        CUfunction kernel = Gpu.kernel("gemm");
        CUdeviceptr deviceA = Gpu.upload(a);
        CUdeviceptr deviceB = Gpu.upload(b);
        CUdeviceptr deviceC = Gpu.upload(c);
        Pointer parameters = Pointer.to(Pointer.to(deviceA), Pointer.to(deviceB), Pointer.to(deviceC),
                Pointer.to(new int[] {M}), Pointer.to(new int[] {N}), Pointer.to(new int[] {K}),
                Pointer.to(new float[] {ALPHA}), Pointer.to(new float[] {BETA}));
        cuLaunchKernel(kernel, (N + TILE - 1) / TILE, (M + TILE - 1) / TILE, 1, TILE, TILE, 1, 0, null, parameters,
                null);
        cuCtxSynchronize();
        float[] product = Gpu.download(deviceC, M * N);
        cuMemFree(deviceA);
        cuMemFree(deviceB);
        cuMemFree(deviceC);
        cuCtxDestroy(context);
        return product;
    }

    private static float[] expected(float[] a, float[] b, float[] c) {
        float[] expected = new float[M * N];
        for (int row = 0; row < M; row++) {
            for (int column = 0; column < N; column++) {
                float sum = 0;
                for (int k = 0; k < K; k++) {
                    sum += a[row * K + k] * b[k * N + column];
                }
                expected[row * N + column] = ALPHA * sum + BETA * c[row * N + column];
            }
        }
        return expected;
    }
}
