package io.tessera.demo;

import static jcuda.driver.JCudaDriver.cuModuleGetFunction;
import static jcuda.driver.JCudaDriver.cuModuleLoadData;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import jcuda.driver.CUfunction;
import jcuda.driver.CUmodule;

/** A kernel from the PTX beside these classes. */
final class KernelFile {
    private KernelFile() {
    }

    /**
     * Loads the module {@code name.ptx} into the current context and finds the kernel of the same name in it.
     *
     * @throws IOException if the resource cannot be read
     * @throws jcuda.CudaException if the driver refuses it
     */
    static CUfunction load(String name) throws IOException {
        byte[] image;
        try (InputStream in = KernelFile.class.getResourceAsStream(name + ".ptx")) {
            if (in == null) {
                throw new IOException("no resource " + name + ".ptx");
            }
            byte[] text = in.readAllBytes();
            image = Arrays.copyOf(text, text.length + 1); // the driver reads up to a NUL
        }
        CUmodule module = new CUmodule();
        cuModuleLoadData(module, image);
        CUfunction kernel = new CUfunction();
        cuModuleGetFunction(kernel, module, name);
        return kernel;
    }
}
