package io.tessera.software.driver.module;

import io.tessera.device.CudaError;
import io.tessera.software.driver.abi.DriverException;
import io.tessera.software.driver.memory.AddressRange;
import io.tessera.software.driver.memory.DriverMemory;
import io.tessera.software.launch.DeviceLimits;
import io.tessera.software.processor.GlobalVariable;
import io.tessera.software.processor.LoadedModule;
import io.tessera.software.program.ReferenceKind;
import io.tessera.software.program.UnsupportedPtxException;
import io.tessera.software.texture.TextureUnit;
import io.tessera.software.texture.TextureView;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** A loaded module (CUmodule). Functions are compiled when they are first asked for. Thread-safe. */
public final class DriverModule implements DeviceFunction.Origin {
    private final LoadedModule loaded;
    private final int target;
    private final int mostRegisters;
    private final DeviceLimits limits;
    private final DriverMemory memory;
    private final List<AddressRange> variables = new ArrayList<>();
    private final Map<String, DeviceFunction> functions = new ConcurrentHashMap<>();
    private final Map<String, Object> references = new ConcurrentHashMap<>();
    private final Map<Long, TextureView> bindings = new ConcurrentHashMap<>();

    /**
     * Takes over a module of the processor; its variables become known addresses.
     *
     * @param target        the architecture that its PTX names: 90 for sm_90
     * @param mostRegisters that a thread may have; 0: not given
     */
    public DriverModule(LoadedModule loaded, int target, int mostRegisters, DeviceLimits limits, DriverMemory memory, long context) {
        this.loaded = loaded;
        this.target = target;
        this.mostRegisters = mostRegisters;
        this.limits = limits;
        this.memory = memory;
        for (GlobalVariable variable : loaded.globals().values()) {
            AddressRange known = memory.addresses().describe(variable.address(), Math.max(1, variable.bytes()),
                    AddressRange.Kind.MODULE, context, 0);
            memory.addresses().add(known, CudaError.UNKNOWN);
            variables.add(known);
        }
    }

    /** A kernel; ends the entry with NOT_FOUND, or with INVALID_PTX if it has an instruction that is lacking. */
    public DeviceFunction function(String name) {
        DriverException.require(loaded.kernelNames().contains(name), CudaError.NOT_FOUND);
        try {
            return functions.computeIfAbsent(name,
                    wanted -> new DeviceFunction(this, loaded.kernel(wanted), limits));
        } catch (UnsupportedPtxException e) {
            throw new DriverException(CudaError.INVALID_PTX, "kernel " + name + ": " + e.getMessage());
        }
    }

    @Override
    public int target() {
        return target;
    }

    @Override
    public int mostRegisters() {
        return mostRegisters;
    }

    /** Names of its kernels. */
    public List<String> functionNames() {
        return loaded.kernelNames().stream().sorted().toList();
    }

    /** A variable; ends the entry with NOT_FOUND. */
    public GlobalVariable variable(String name) {
        DriverException.require(!loaded.references().containsKey(name), CudaError.NOT_FOUND);
        return place(name);
    }

    private GlobalVariable place(String name) {
        GlobalVariable variable = loaded.globals().get(name);
        DriverException.require(variable != null, CudaError.NOT_FOUND);
        return variable;
    }

    /** Returns what a texture or surface reference is to kernels; ends the entry with NOT_FOUND. */
    public long reference(String name, ReferenceKind kind) {
        DriverException.require(loaded.references().get(name) == kind, CudaError.NOT_FOUND);
        return place(name).address();
    }

    /** Binds a reference to this view for later launches; null: to nothing. */
    public void bind(long reference, TextureView view) {
        if (view == null) {
            bindings.remove(reference);
        } else {
            bindings.put(reference, view);
        }
    }

    @Override
    public TextureUnit bound() {
        if (bindings.isEmpty()) {
            return TextureUnit.NONE;
        }
        return Map.copyOf(bindings)::get;
    }

    /** Texture and surface references that were asked for, by name. */
    public Map<String, Object> references() {
        return references;
    }

    /** Makes its variables unknown; kernels that run may still use them until {@link #close}. */
    public void forget() {
        variables.forEach(memory::forget);
    }

    /** Frees what it has; no kernel of it is running. */
    public void close() {
        loaded.close();
    }
}
