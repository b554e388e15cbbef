package io.tessera.demo;

import static jcuda.driver.JCudaDriver.cuCtxCreate;
import static jcuda.driver.JCudaDriver.cuCtxDestroy;
import static jcuda.driver.JCudaDriver.cuDeviceGet;
import static jcuda.driver.JCudaDriver.cuInit;
import static jcuda.driver.JCudaDriver.cuLaunchKernel;
import static jcuda.driver.JCudaDriver.cuMemAlloc;
import static jcuda.driver.JCudaDriver.cuMemAllocHost;
import static jcuda.driver.JCudaDriver.cuMemFree;
import static jcuda.driver.JCudaDriver.cuMemFreeHost;
import static jcuda.driver.JCudaDriver.cuMemcpyDtoHAsync;
import static jcuda.driver.JCudaDriver.cuMemcpyHtoD;
import static jcuda.driver.JCudaDriver.cuMemsetD8Async;
import static jcuda.driver.JCudaDriver.cuStreamCreate;
import static jcuda.driver.JCudaDriver.cuStreamDestroy;
import static jcuda.driver.JCudaDriver.cuStreamSynchronize;

import java.io.IOException;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Arrays;
import java.util.SplittableRandom;
import jcuda.Pointer;
import jcuda.Sizeof;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUfunction;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;

/** Counts the values of random bytes on the GPU, through a stream and pinned memory, and compares each count. */
final class Histogram {
    private static final int BINS = 256;
    private static final int BYTES = 1 << 18;
    private static final int BLOCKS = 8;
    private static final int THREADS = 128;
    private static final long BIN_BYTES = (long) BINS * Sizeof.INT;

    private final byte[] values = new byte[BYTES];
    private final int[] expected = new int[BINS];

    private Histogram() {
        new SplittableRandom(7).nextBytes(values);
        for (byte value : values) {
            expected[value & 0xff]++;
        }
    }

    /**
     * Runs the program.
     *
     * @param arguments seconds to compute for
     */
    public static void main(String[] arguments) throws IOException {
        JCudaDriver.setExceptionsEnabled(true);
        double seconds = arguments.length > 0 ? Double.parseDouble(arguments[0]) : 5;
        boolean correct = new Histogram().run(Duration.ofMillis((long) (1000 * seconds)));
        System.exit(correct ? 0 : 1);
    }

    private boolean run(Duration duration) throws IOException {
        cuInit(0);
        CUdevice device = new CUdevice();
        cuDeviceGet(device, 0);
        CUcontext context = new CUcontext();
        cuCtxCreate(context, 0, device);
        CUfunction kernel = KernelFile.load("histogram");
        CUdeviceptr deviceValues = new CUdeviceptr();
        cuMemAlloc(deviceValues, BYTES);
        cuMemcpyHtoD(deviceValues, Pointer.to(values), BYTES);
        CUdeviceptr deviceBins = new CUdeviceptr();
        cuMemAlloc(deviceBins, BIN_BYTES);
        Pointer bins = new Pointer();
        cuMemAllocHost(bins, BIN_BYTES);
        CUstream stream = new CUstream();
        cuStreamCreate(stream, 0);
        Pointer parameters = Pointer.to(Pointer.to(deviceValues), Pointer.to(new long[] {BYTES}),
                Pointer.to(deviceBins));
        Meeting.await("histogram");
        long until = System.nanoTime() + duration.toNanos();
        int rounds = 0;
        int wrong = 0;
        do {
            cuMemsetD8Async(deviceBins, (byte) 0, BIN_BYTES, stream);
            cuLaunchKernel(kernel, BLOCKS, 1, 1, THREADS, 1, 1, 0, stream, parameters, null);
            cuMemcpyDtoHAsync(bins, deviceBins, BIN_BYTES, stream);
            cuStreamSynchronize(stream);
            wrong += matches(bins) ? 0 : 1;
            rounds++;
        } while (System.nanoTime() < until);
        cuStreamDestroy(stream);
        cuMemFreeHost(bins);
        cuMemFree(deviceBins);
        cuMemFree(deviceValues);
        cuCtxDestroy(context);
        System.out.printf("histogram: %d rounds over %d bytes, %d of them wrong: %s%n", rounds, BYTES, wrong,
                wrong == 0 ? "correct" : "WRONG");
        return wrong == 0;
    }

    private boolean matches(Pointer bins) {
        int[] counts = new int[BINS];
        bins.getByteBuffer(0, BIN_BYTES).order(ByteOrder.nativeOrder()).asIntBuffer().get(counts);
        return Arrays.equals(counts, expected);
    }
}
