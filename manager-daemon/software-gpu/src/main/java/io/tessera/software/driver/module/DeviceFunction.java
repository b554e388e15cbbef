package io.tessera.software.driver.module;

import io.tessera.device.CudaEnums.FunctionAttribute;
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
    /** As above, for kernels that may have as many: compilers then overlap more instructions. */
    private static final int MORE_REGISTERS = 40;

    /** The module that a function is of. */
    public interface Origin {
        /** Returns the architecture that its PTX was compiled for: 75 for sm_75. */
        int target();

        /** Registers that a thread may have, by an option of its JIT; 0: there was none. */
        int mostRegisters();

        /** Returns the current bindings of texture and surface references. */
        TextureUnit bound();
    }

    private final Origin module;
    private final LoadedKernel loaded;
    private final DeviceLimits limits;
    private final int[] settable = new int[FunctionAttribute.CLUSTER_SCHEDULING_POLICY_PREFERENCE + 1];

    DeviceFunction(Origin module, LoadedKernel loaded, DeviceLimits limits) {
        this.module = module;
        this.loaded = loaded;
        this.limits = limits;
        settable[FunctionAttribute.MAX_DYNAMIC_SHARED_SIZE_BYTES] = Math.max(0, DEFAULT_SHARED_BYTES - kernel().staticSharedBytes());
        settable[FunctionAttribute.PREFERRED_SHARED_MEMORY_CARVEOUT] = -1;
        List<Integer> cluster = kernel().limits().clusterDim();
        for (int i = 0; i < 3; i++) {
            settable[FunctionAttribute.REQUIRED_CLUSTER_WIDTH + i] = i < cluster.size() ? cluster.get(i) : 0;
        }
    }

    /** Returns where it comes from. */
    public Origin module() {
        return module;
    }

    /** Returns its name. */
    public String name() {
        return loaded.name();
    }

    /** Returns the kernel for the processor. */
    public LoadedKernel loaded() {
        return loaded;
    }

    /** Returns the processor's properties of the kernel. */
    public Kernel kernel() {
        return loaded.kernel();
    }

    /** Returns its parameters, in order. */
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
        return settable[FunctionAttribute.MAX_DYNAMIC_SHARED_SIZE_BYTES];
    }

    /** An attribute (CUfunction_attribute). */
    public synchronized int attribute(int attribute) {
        return switch (attribute) {
            case FunctionAttribute.MAX_THREADS_PER_BLOCK -> maxThreads();
            case FunctionAttribute.SHARED_SIZE_BYTES -> kernel().staticSharedBytes();
            case FunctionAttribute.CONST_SIZE_BYTES, FunctionAttribute.CACHE_MODE_CA -> 0;
            case FunctionAttribute.LOCAL_SIZE_BYTES -> kernel().localBytes();
            case FunctionAttribute.NUM_REGS -> registers();
            case FunctionAttribute.PTX_VERSION -> module.target(); // by which libraries choose how they were compiled to launch
            case FunctionAttribute.BINARY_VERSION -> BINARY_VERSION;
            case FunctionAttribute.CLUSTER_SIZE_MUST_BE_SET ->
                kernel().limits().explicitCluster() && settable[FunctionAttribute.REQUIRED_CLUSTER_WIDTH] == 0 ? 1 : 0;
            case FunctionAttribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, FunctionAttribute.PREFERRED_SHARED_MEMORY_CARVEOUT,
                    FunctionAttribute.REQUIRED_CLUSTER_WIDTH, FunctionAttribute.REQUIRED_CLUSTER_HEIGHT, FunctionAttribute.REQUIRED_CLUSTER_DEPTH,
                    FunctionAttribute.NON_PORTABLE_CLUSTER_SIZE_ALLOWED, FunctionAttribute.CLUSTER_SCHEDULING_POLICY_PREFERENCE ->
                settable[attribute];
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
            case FunctionAttribute.MAX_DYNAMIC_SHARED_SIZE_BYTES -> DriverException.require(value >= 0
                    && value + kernel().staticSharedBytes() <= limits.sharedBytesPerBlock(), CudaError.INVALID_VALUE);
            case FunctionAttribute.PREFERRED_SHARED_MEMORY_CARVEOUT -> DriverException.require(value >= -1 && value <= 100, CudaError.INVALID_VALUE);
            case FunctionAttribute.REQUIRED_CLUSTER_WIDTH, FunctionAttribute.REQUIRED_CLUSTER_HEIGHT, FunctionAttribute.REQUIRED_CLUSTER_DEPTH ->
                DriverException.require(value >= 0 && kernel().limits().clusterDim().getFirst() == 0,
                        CudaError.INVALID_VALUE);
            case FunctionAttribute.NON_PORTABLE_CLUSTER_SIZE_ALLOWED -> DriverException.require(value == 0 || value == 1, CudaError.INVALID_VALUE);
            case FunctionAttribute.CLUSTER_SCHEDULING_POLICY_PREFERENCE -> DriverException.require(value >= 0 && value <= 2, CudaError.INVALID_VALUE);
            default -> throw new DriverException(CudaError.INVALID_VALUE);
        }
        settable[attribute] = value;
    }
}
