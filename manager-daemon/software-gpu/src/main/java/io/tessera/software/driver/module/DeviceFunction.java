package io.tessera.software.driver.module;

import io.tessera.device.CudaError;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.launch.DeviceLimits;
import io.tessera.software.processor.LoadedKernel;
import io.tessera.software.program.Kernel;
import io.tessera.software.program.Parameter;
import io.tessera.software.texture.TextureUnit;
import java.util.List;

/** A kernel with the attributes that programs read and set (CUfunction). Thread-safe. */
public final class DeviceFunction {
    /** Shared memory that a block may have without asking for more (compute capability 9.0). */
    public static final int DEFAULT_SHARED_BYTES = 48 << 10;
    /** Capability 9.0, as the attributes of functions count it. */
    private static final int BINARY_VERSION = 90;
    /**
     * Registers are a resource of hardware that this device does not have; the answer is the number that a compiler for 9.0 would give a
     * kernel of middling size, so that formulas of programs come out sensibly.
     */
    private static final int REGISTERS = 32;
    /** The same where it may have as many: compilers then overlap more instructions. */
    private static final int MORE_REGISTERS = 40;

    /** The module that a function is of. */
    public interface Origin {
        /** The architecture that its PTX was compiled for: 75 for sm_75. */
        int target();

        /** Registers that a thread may have, by an option of its JIT; 0: there was none. */
        int mostRegisters();

        /** What texture and surface references stand for now. */
        TextureUnit bound();
    }

    private final Origin module;
    private final LoadedKernel loaded;
    private final DeviceLimits limits;
    private final int[] settable = new int[16];

    DeviceFunction(Origin module, LoadedKernel loaded, DeviceLimits limits) {
        this.module = module;
        this.loaded = loaded;
        this.limits = limits;
        settable[8] = Math.max(0, DEFAULT_SHARED_BYTES - kernel().staticSharedBytes());
        settable[9] = -1;
        List<Integer> cluster = kernel().limits().clusterDim();
        for (int i = 0; i < 3; i++) {
            settable[11 + i] = i < cluster.size() ? cluster.get(i) : 0;
        }
    }

    /** Where it comes from. */
    public Origin module() {
        return module;
    }

    /** Its name. */
    public String name() {
        return loaded.name();
    }

    /** What the processor runs. */
    public LoadedKernel loaded() {
        return loaded;
    }

    /** What the processor knows of it. */
    public Kernel kernel() {
        return loaded.kernel();
    }

    /** Its parameters, in order. */
    public List<Parameter> parameters() {
        return kernel().entry().parameters();
    }

    /** Most threads that a block of it may have. */
    public int maxThreads() {
        int own = kernel().limits().maxThreads();
        return own == 0 ? limits.threadsPerBlock() : Math.min(own, limits.threadsPerBlock());
    }

    /** Most dynamic shared memory that a launch may ask for now. */
    public synchronized int maxDynamicShared() {
        return settable[8];
    }

    /** An attribute (CUfunction_attribute). */
    public synchronized int attribute(int attribute) {
        return switch (attribute) {
            case 0 -> maxThreads();
            case 1 -> kernel().staticSharedBytes();
            case 2, 7 -> 0;
            case 3 -> kernel().localBytes();
            case 4 -> registers();
            case 5 -> module.target(); // by which libraries choose how they were compiled to launch
            case 6 -> BINARY_VERSION;
            case 10 -> kernel().limits().explicitCluster() && settable[11] == 0 ? 1 : 0;
            case 8, 9, 11, 12, 13, 14, 15 -> settable[attribute];
            default -> throw new DriverException(CudaError.INVALID_VALUE);
        };
    }

    private int registers() {
        int most = module.mostRegisters();
        return most == 0 ? REGISTERS : Math.min(most, MORE_REGISTERS);
    }

    /** Sets an attribute. */
    public synchronized void setAttribute(int attribute, int value) {
        switch (attribute) {
            case 8 -> DriverException.require(value >= 0
                    && value + kernel().staticSharedBytes() <= limits.sharedBytesPerBlock(), CudaError.INVALID_VALUE);
            case 9 -> DriverException.require(value >= -1 && value <= 100, CudaError.INVALID_VALUE);
            case 11, 12, 13 -> DriverException.require(value >= 0 && kernel().limits().clusterDim().getFirst() == 0,
                    CudaError.INVALID_VALUE);
            case 14 -> DriverException.require(value == 0 || value == 1, CudaError.INVALID_VALUE);
            case 15 -> DriverException.require(value >= 0 && value <= 2, CudaError.INVALID_VALUE);
            default -> throw new DriverException(CudaError.INVALID_VALUE);
        }
        settable[attribute] = value;
    }
}
