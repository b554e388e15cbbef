package io.tessera.samples;

import static jcuda.driver.JCudaDriver.cuCtxDestroy;
import static jcuda.driver.JCudaDriver.cuCtxSynchronize;
import static jcuda.driver.JCudaDriver.cuLaunchKernel;
import static jcuda.driver.JCudaDriver.cuMemAlloc;
import static jcuda.driver.JCudaDriver.cuMemFree;
import static jcuda.driver.JCudaDriver.cuMemcpyDtoD;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import jcuda.Pointer;
import jcuda.Sizeof;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUfunction;

/**
 * A service with a defect: some answers are copied on the device for later, and these copies are never freed. Each
 * request's own buffers are freed, and the model lives as long as the service, as it should.
 *
 * <p>{@code requests N} serves N and ends; {@code serve} goes on until its standard input ends.
 */
public final class LeakingService {
    private static final int N = 4096;
    private static final int THREADS = 128;
    /** Each request whose number is divisible by this leaves a copy. */
    private static final int REMEMBERED = 4;
    private static final long PAUSE_MS = 20;
    /** Garbage on the Java heap of each request, as parsing and formatting would produce. */
    private static final int GARBAGE_BYTES = 1 << 20;

    private final CUfunction kernel;
    private final CUdeviceptr model;
    private final float[] weights = new float[N];
    private final List<byte[]> recent = new ArrayList<>();

    private LeakingService() throws IOException {
        for (int i = 0; i < N; i++) {
            weights[i] = i % 31;
        }
        kernel = Gpu.kernel("vector_add");
        model = Gpu.upload(weights);
    }

    /**
     * Runs the service.
     *
     * @param arguments {@code requests N} or {@code serve}
     */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        CUcontext context = Gpu.open();
        LeakingService service = new LeakingService();
        boolean endless = arguments[0].equals("serve");
        int count = endless ? Integer.MAX_VALUE : Integer.parseInt(arguments[1]);
        if (endless) {
            System.out.println("ready");
        }
        boolean right = true;
        int served = 0;
        while (served < count && !(endless && System.in.available() > 0)) {
            right &= service.answer(served++);
            if (endless) {
                TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
            }
        }
        cuMemFree(service.model);
        cuCtxDestroy(context);
        ResultLine.end("leaking service", (endless ? "some" : served) + " requests", right);
    }

    private boolean answer(int request) {
        float[] question = new float[N];
        Arrays.fill(question, request % 1000);
        recent.add(new byte[GARBAGE_BYTES]);
        if (recent.size() > 8) {
            recent.clear();
        }
        CUdeviceptr input = Gpu.upload(question);
        CUdeviceptr output = Gpu.allocate(N);
        Pointer parameters = Pointer.to(Pointer.to(model), Pointer.to(input), Pointer.to(output),
                Pointer.to(new int[] {N}));
        cuLaunchKernel(kernel, (N + THREADS - 1) / THREADS, 1, 1, THREADS, 1, 1, 0, null, parameters, null);
        cuCtxSynchronize();
        float[] answer = Gpu.download(output, N);
        if (request % REMEMBERED == 0) {
            remember(output);
        }
        cuMemFree(input);
        cuMemFree(output);
        boolean right = true;
        for (int i = 0; i < N; i++) {
            right &= answer[i] == weights[i] + question[i];
        }
        return right;
    }

    /** The defect: the only reference to the copy ends with this method. */
    private static void remember(CUdeviceptr output) {
        CUdeviceptr copy = new CUdeviceptr();
        cuMemAlloc(copy, (long) N * Sizeof.FLOAT);
        cuMemcpyDtoD(copy, output, (long) N * Sizeof.FLOAT);
    }
}
