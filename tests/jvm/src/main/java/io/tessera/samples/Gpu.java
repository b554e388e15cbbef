package io.tessera.samples;

import static jcuda.driver.JCudaDriver.cuCtxCreate;
import static jcuda.driver.JCudaDriver.cuDeviceGet;
import static jcuda.driver.JCudaDriver.cuInit;
import static jcuda.driver.JCudaDriver.cuMemAlloc;
import static jcuda.driver.JCudaDriver.cuMemcpyDtoH;
import static jcuda.driver.JCudaDriver.cuMemcpyHtoD;
import static jcuda.driver.JCudaDriver.cuModuleGetFunction;
import static jcuda.driver.JCudaDriver.cuModuleLoadData;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import jcuda.Pointer;
import jcuda.Sizeof;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUfunction;
import jcuda.driver.CUmodule;
import jcuda.driver.JCudaDriver;

/** The common parts of the JCuda programs: a context on the first device, kernels, and copies of data. Stateless. */
final class Gpu {
    private Gpu() {
    }

    /**
     * Creates a context on the first device and makes it current on this thread. From then on, an error of the driver is an exception.
     *
     * @throws jcuda.CudaException if there is no device
     */
    static CUcontext open() {
        JCudaDriver.setExceptionsEnabled(true);
        cuInit(0);
        CUdevice device = new CUdevice();
        cuDeviceGet(device, 0);
        CUcontext context = new CUcontext();
        cuCtxCreate(context, 0, device);
        return context;
    }

    /**
     * Returns the kernel {@code name} of the PTX {@code name.ptx} beside these classes, in the current context.
     *
     * @throws IOException if the resource cannot be read
     */
    static CUfunction kernel(String name) throws IOException {
        CUmodule module = new CUmodule();
        cuModuleLoadData(module, image(name));
        CUfunction kernel = new CUfunction();
        cuModuleGetFunction(kernel, module, name);
        return kernel;
    }

    /** Returns the text of {@code name.ptx} with the final NUL that the driver needs. */
    static byte[] image(String name) throws IOException {
        try (InputStream in = Gpu.class.getResourceAsStream(name + ".ptx")) {
            if (in == null) {
                throw new IOException("no resource " + name + ".ptx");
            }
            byte[] text = in.readAllBytes();
            return Arrays.copyOf(text, text.length + 1);
        }
    }

    /** Allocates device memory with these numbers; the caller frees it. */
    static CUdeviceptr upload(float[] numbers) {
        CUdeviceptr pointer = allocate(numbers.length);
        cuMemcpyHtoD(pointer, Pointer.to(numbers), (long) numbers.length * Sizeof.FLOAT);
        return pointer;
    }

    /** Allocates device memory for this many floats; the caller frees it. */
    static CUdeviceptr allocate(int floats) {
        CUdeviceptr pointer = new CUdeviceptr();
        cuMemAlloc(pointer, (long) floats * Sizeof.FLOAT);
        return pointer;
    }

    /** Returns the floats in device memory. */
    static float[] download(CUdeviceptr pointer, int floats) {
        float[] numbers = new float[floats];
        cuMemcpyDtoH(Pointer.to(numbers), pointer, (long) floats * Sizeof.FLOAT);
        return numbers;
    }
}
