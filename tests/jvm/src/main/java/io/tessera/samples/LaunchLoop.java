package io.tessera.samples;

import static jcuda.driver.JCudaDriver.cuCtxDestroy;
import static jcuda.driver.JCudaDriver.cuCtxSynchronize;
import static jcuda.driver.JCudaDriver.cuLaunchKernel;
import static jcuda.driver.JCudaDriver.cuMemFree;
import static jcuda.driver.JCudaDriver.cuMemcpyHtoD;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import jcuda.Pointer;
import jcuda.Sizeof;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUfunction;

/**
 * Launches a kernel of one block repeatedly. The device has almost nothing to do, so the cost is that of the launches.
 *
 * <p>{@code count N} launches so often and ends. {@code bench} reads lines {@code go N} and answers each with a JSON
 * object {@code {"launches": N, "ms": T, "right": true}}, until its standard input ends.
 */
public final class LaunchLoop {
    private static final int N = 32;
    /** Sums of ones are exact in a float up to here. */
    private static final int MOST = 1 << 24;

    private final CUfunction kernel;
    private final CUdeviceptr ones;
    private final CUdeviceptr sums;
    private final Pointer parameters;

    private LaunchLoop() throws IOException {
        float[] one = new float[N];
        Arrays.fill(one, 1);
        kernel = Gpu.kernel("saxpy");
        ones = Gpu.upload(one);
        sums = Gpu.allocate(N);
        parameters = Pointer.to(Pointer.to(new float[] {1}), Pointer.to(ones), Pointer.to(sums),
                Pointer.to(new int[] {N}));
    }

    /**
     * Runs the program.
     *
     * @param arguments {@code count N} or {@code bench}
     */
    public static void main(String[] arguments) throws IOException {
        CUcontext context = Gpu.open();
        LaunchLoop loop = new LaunchLoop();
        boolean right = true;
        if (arguments[0].equals("bench")) {
            right = loop.bench();
        } else {
            int count = Integer.parseInt(arguments[1]);
            right = loop.launch(count);
            ResultLine.print("launch loop", count + " launches", right);
        }
        cuMemFree(loop.ones);
        cuMemFree(loop.sums);
        cuCtxDestroy(context);
        System.exit(right ? 0 : 1);
    }

    private boolean bench() throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        boolean all = true;
        System.out.println("{\"what\": \"ready\"}");
        for (String line = lines.readLine(); line != null && !line.isEmpty(); line = lines.readLine()) {
            int count = Integer.parseInt(line.substring("go ".length()));
            long startNs = System.nanoTime();
            boolean right = launch(count);
            double ms = (System.nanoTime() - startNs) / 1e6;
            all &= right;
            System.out.println(String.format(Locale.ROOT, "{\"launches\": %d, \"ms\": %.3f, \"right\": %b}", count, ms,
                    right));
        }
        return all;
    }

    /** Launches a kernel this often, and returns whether the device has added as many ones. */
    private boolean launch(int count) {
        if (count > MOST) {
            throw new IllegalArgumentException("at most " + MOST + " launches at once");
        }
        cuMemcpyHtoD(sums, Pointer.to(new float[N]), (long) N * Sizeof.FLOAT);
        for (int i = 0; i < count; i++) {
            cuLaunchKernel(kernel, 1, 1, 1, N, 1, 1, 0, null, parameters, null);
        }
        cuCtxSynchronize();
        float[] found = Gpu.download(sums, N);
        for (float sum : found) {
            if (sum != count) {
                return false;
            }
        }
        return true;
    }
}
