package io.tessera.demo;

import static jcuda.driver.JCudaDriver.cuCtxCreate;
import static jcuda.driver.JCudaDriver.cuCtxDestroy;
import static jcuda.driver.JCudaDriver.cuCtxSynchronize;
import static jcuda.driver.JCudaDriver.cuDeviceGet;
import static jcuda.driver.JCudaDriver.cuInit;
import static jcuda.driver.JCudaDriver.cuLaunchKernel;
import static jcuda.driver.JCudaDriver.cuMemAlloc;
import static jcuda.driver.JCudaDriver.cuMemFree;
import static jcuda.driver.JCudaDriver.cuMemcpyDtoH;
import static jcuda.driver.JCudaDriver.cuMemcpyHtoD;

import java.io.IOException;
import java.time.Duration;
import java.util.Locale;
import java.util.random.RandomGenerator;
import jcuda.Pointer;
import jcuda.Sizeof;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUfunction;
import jcuda.driver.JCudaDriver;

/** Multiplies two matrices on the GPU, again and again for some seconds, and checks the last product on the CPU. */
final class MatrixProduct {
    private static final int TILE = 16;
    /** Tolerance for each element, relative to the sum of the products' sizes: 192 roundings of half an ulp of a float. */
    private static final double TOLERANCE = 192 * 0x1p-24;

    private final int n;
    private final float[] a;
    private final float[] b;

    private MatrixProduct(int n) {
        this.n = n;
        RandomGenerator random = RandomGenerator.of("L64X128MixRandom");
        a = randomMatrix(random);
        b = randomMatrix(random);
    }

    /**
     * Runs the program.
     *
     * @param arguments seconds to compute for
     */
    public static void main(String[] arguments) throws IOException {
        JCudaDriver.setExceptionsEnabled(true);
        double seconds = arguments.length > 0 ? Double.parseDouble(arguments[0]) : 5;
        boolean correct = new MatrixProduct(192).run(Duration.ofMillis((long) (1000 * seconds)));
        System.exit(correct ? 0 : 1);
    }

    private boolean run(Duration duration) throws IOException {
        cuInit(0);
        CUdevice device = new CUdevice();
        cuDeviceGet(device, 0);
        CUcontext context = new CUcontext();
        cuCtxCreate(context, 0, device);
        CUfunction kernel = KernelFile.load("matrix_product");
        CUdeviceptr deviceA = upload(a);
        CUdeviceptr deviceB = upload(b);
        CUdeviceptr deviceC = new CUdeviceptr();
        cuMemAlloc(deviceC, (long) n * n * Sizeof.FLOAT);
        Pointer parameters = Pointer.to(Pointer.to(deviceA), Pointer.to(deviceB), Pointer.to(deviceC),
                Pointer.to(new int[] {n}));
        int blocks = (n + TILE - 1) / TILE;
        Meeting.await("matrix");
        long until = System.nanoTime() + duration.toNanos();
        int products = 0;
        do {
            cuLaunchKernel(kernel, blocks, blocks, 1, TILE, TILE, 1, 0, null, parameters, null);
            cuCtxSynchronize();
            products++;
        } while (System.nanoTime() < until);
        float[] c = new float[n * n];
        cuMemcpyDtoH(Pointer.to(c), deviceC, (long) n * n * Sizeof.FLOAT);
        cuMemFree(deviceA);
        cuMemFree(deviceB);
        cuMemFree(deviceC);
        cuCtxDestroy(context);
        double error = largestError(c);
        System.out.printf(Locale.ROOT, "matrix product: %d products of %d x %d, largest relative error %.2g: %s%n",
                products, n, n, error, error <= TOLERANCE ? "correct" : "WRONG");
        return error <= TOLERANCE;
    }

    private float[] randomMatrix(RandomGenerator random) {
        float[] matrix = new float[n * n];
        for (int i = 0; i < matrix.length; i++) {
            matrix[i] = random.nextFloat(-1, 1);
        }
        return matrix;
    }

    private static CUdeviceptr upload(float[] matrix) {
        CUdeviceptr pointer = new CUdeviceptr();
        cuMemAlloc(pointer, (long) matrix.length * Sizeof.FLOAT);
        cuMemcpyHtoD(pointer, Pointer.to(matrix), (long) matrix.length * Sizeof.FLOAT);
        return pointer;
    }

    private double largestError(float[] c) {
        double largest = 0;
        for (int row = 0; row < n; row++) {
            for (int column = 0; column < n; column++) {
                double sum = 0;
                double sizes = 0;
                for (int k = 0; k < n; k++) {
                    double product = (double) a[row * n + k] * b[k * n + column];
                    sum += product;
                    sizes += Math.abs(product);
                }
                largest = Math.max(largest, Math.abs(c[row * n + column] - sum) / sizes);
            }
        }
        return largest;
    }
}
