package io.tessera.samples;

import static org.bytedeco.cuda.global.cudart.cuCtxCreate;
import static org.bytedeco.cuda.global.cudart.cuCtxDestroy;
import static org.bytedeco.cuda.global.cudart.cuCtxSynchronize;
import static org.bytedeco.cuda.global.cudart.cuDeviceGet;
import static org.bytedeco.cuda.global.cudart.cuInit;
import static org.bytedeco.cuda.global.cudart.cuLaunchKernel;
import static org.bytedeco.cuda.global.cudart.cuMemAlloc;
import static org.bytedeco.cuda.global.cudart.cuMemFree;
import static org.bytedeco.cuda.global.cudart.cuMemcpyDtoH;
import static org.bytedeco.cuda.global.cudart.cuMemcpyHtoD;
import static org.bytedeco.cuda.global.cudart.cuModuleGetFunction;
import static org.bytedeco.cuda.global.cudart.cuModuleLoadData;

import java.io.IOException;
import java.util.Arrays;
import org.bytedeco.cuda.cudart.CUctx_st;
import org.bytedeco.cuda.cudart.CUfunc_st;
import org.bytedeco.cuda.cudart.CUmod_st;
import org.bytedeco.cuda.cudart.CUstream_st;
import org.bytedeco.javacpp.BytePointer;
import org.bytedeco.javacpp.FloatPointer;
import org.bytedeco.javacpp.IntPointer;
import org.bytedeco.javacpp.LongPointer;
import org.bytedeco.javacpp.PointerPointer;

/** Adds a multiple of one vector to another, through JavaCPP's binding of the driver. */
public final class JavaCppSaxpy {
    private static final int N = 50_021;
    private static final int THREADS = 256;
    private static final long BYTES = (long) N * Float.BYTES;
    private static final float ALPHA = 4;

    private JavaCppSaxpy() {
    }

    /** Runs the program; no arguments. Ends with 0 if the result is right. */
    public static void main(String[] arguments) throws IOException {
        float[] x = new float[N];
        float[] y = new float[N];
        float[] expected = new float[N];
        for (int i = 0; i < N; i++) {
            x[i] = i % 101;
            y[i] = i % 89;
            expected[i] = ALPHA * x[i] + y[i];
        }
        check("cuInit", cuInit(0));
        int[] device = new int[1];
        check("cuDeviceGet", cuDeviceGet(device, 0));
        CUctx_st context = new CUctx_st();
        check("cuCtxCreate", cuCtxCreate(context, 0, device[0]));
        float[] result = saxpy(x, y);
        check("cuCtxDestroy", cuCtxDestroy(context));
        ResultLine.end("JavaCPP saxpy", N + " elements, digest " + ResultLine.digest(result),
                Arrays.equals(result, expected));
    }

    private static float[] saxpy(float[] x, float[] y) throws IOException {
        CUmod_st module = new CUmod_st();
        CUfunc_st kernel = new CUfunc_st();
        check("cuModuleLoadData", cuModuleLoadData(module, new BytePointer(Gpu.image("saxpy"))));
        check("cuModuleGetFunction", cuModuleGetFunction(kernel, module, "saxpy"));
        try (LongPointer deviceX = upload(x);
                LongPointer deviceY = upload(y);
                FloatPointer alpha = new FloatPointer(ALPHA);
                IntPointer n = new IntPointer(new int[] {N});
                FloatPointer host = new FloatPointer(N)) {
            PointerPointer<?> parameters = new PointerPointer<>(alpha, deviceX, deviceY, n);
            check("cuLaunchKernel", cuLaunchKernel(kernel, (N + THREADS - 1) / THREADS, 1, 1, THREADS, 1, 1, 0,
                    (CUstream_st) null, parameters, null));
            check("cuCtxSynchronize", cuCtxSynchronize());
            check("cuMemcpyDtoH", cuMemcpyDtoH(host, deviceY.get(), BYTES));
            check("cuMemFree", cuMemFree(deviceX.get()));
            check("cuMemFree", cuMemFree(deviceY.get()));
            float[] result = new float[N];
            host.get(result);
            return result;
        }
    }

    /** The address, in memory that a kernel's parameters can point to. */
    private static LongPointer upload(float[] numbers) {
        LongPointer address = new LongPointer(1);
        check("cuMemAlloc", cuMemAlloc(address, BYTES));
        try (FloatPointer host = new FloatPointer(numbers)) {
            check("cuMemcpyHtoD", cuMemcpyHtoD(address.get(), host, BYTES));
        }
        return address;
    }

    private static void check(String call, int result) {
        if (result != 0) {
            throw new IllegalStateException(call + " answered " + result);
        }
    }
}
