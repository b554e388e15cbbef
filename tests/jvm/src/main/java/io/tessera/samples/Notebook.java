package io.tessera.samples;

import static jcuda.driver.JCudaDriver.cuCtxDestroy;
import static jcuda.driver.JCudaDriver.cuCtxSynchronize;
import static jcuda.driver.JCudaDriver.cuMemAlloc;
import static jcuda.driver.JCudaDriver.cuMemFree;
import static jcuda.driver.JCudaDriver.cuMemcpyDtoH;
import static jcuda.driver.JCudaDriver.cuMemcpyHtoD;
import static jcuda.driver.JCudaDriver.cuMemsetD8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import jcuda.Pointer;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdeviceptr;

/**
 * Keeps data on the device between the lines of its standard input, as a notebook does between its cells. A line {@code check} reads the
 * data back and answers {@code right} or {@code wrong}; {@code work MILLISECONDS} fills other memory for that long and answers {@code
 * worked}; an empty line or the end of the input ends it. Launches no kernel.
 */
public final class Notebook {
    private static final int WORK_BYTES = 1 << 20;

    private Notebook() {
    }

    /**
     * Runs the program.
     *
     * @param arguments bytes that it keeps
     */
    public static void main(String[] arguments) throws IOException {
        byte[] data = new byte[Integer.parseInt(arguments[0])];
        new SplittableRandom(7).nextBytes(data);
        CUcontext context = Gpu.open();
        CUdeviceptr kept = new CUdeviceptr();
        cuMemAlloc(kept, data.length);
        cuMemcpyHtoD(kept, Pointer.to(data), data.length);
        System.out.println("ready");
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        boolean right = true;
        for (String line = lines.readLine(); line != null && !line.isEmpty(); line = lines.readLine()) {
            if (line.equals("check")) {
                byte[] found = new byte[data.length];
                cuMemcpyDtoH(Pointer.to(found), kept, found.length);
                right &= Arrays.equals(found, data);
                System.out.println(right ? "right" : "wrong");
            } else {
                work(Long.parseLong(line.substring("work ".length())));
                System.out.println("worked");
            }
        }
        cuMemFree(kept);
        cuCtxDestroy(context);
        ResultLine.end("notebook", data.length + " bytes", right);
    }

    private static void work(long milliseconds) {
        CUdeviceptr memory = new CUdeviceptr();
        cuMemAlloc(memory, WORK_BYTES);
        long endNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(milliseconds);
        while (System.nanoTime() - endNs < 0) {
            cuMemsetD8(memory, (byte) 1, WORK_BYTES);
            cuCtxSynchronize();
        }
        cuMemFree(memory);
    }
}
