package io.tessera.software.processor;

import io.tessera.software.execution.KernelTranslator;
import io.tessera.software.execution.SymbolAddresses;
import io.tessera.software.memory.DeviceMemory;
import io.tessera.software.program.Kernel;
import io.tessera.software.program.LoweredProgram;
import io.tessera.software.program.ReferenceKind;
import io.tessera.software.program.UnsupportedPtxException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/**
 * A module whose variables lie in device memory. Thread-safe. Kernels are lowered and translated when they are first
 * asked for. The owner closes it when no grid of it is running.
 */
public final class LoadedModule implements AutoCloseable {
    private final DeviceMemory memory;
    private final KernelTranslator translator;
    private final LoweredProgram program;
    private final Map<String, Long> addresses;
    private final LoadedVariables variables;
    private final Map<String, LoadedKernel> kernels = new ConcurrentHashMap<>();

    LoadedModule(DeviceMemory memory, KernelTranslator translator, LoweredProgram program,
            Map<String, GlobalVariable> globals, Map<String, Long> addresses) {
        this.memory = memory;
        this.translator = translator;
        this.program = program;
        this.addresses = new LinkedHashMap<>(addresses);
        this.variables = new LoadedVariables(globals,
                program.references().keySet().stream().map(addresses::get).collect(Collectors.toUnmodifiableSet()));
    }

    /** Names of its kernels. */
    public Set<String> kernelNames() {
        return program.kernelNames();
    }

    /** Returns its texture and surface references, by name; their places are those of variables. */
    public Map<String, ReferenceKind> references() {
        return program.references();
    }

    /** Returns its variables in global and constant memory, by name. */
    public Map<String, GlobalVariable> globals() {
        return variables.globals();
    }

    /**
     * Returns a kernel, ready to launch; the same object at every call.
     *
     * @throws UnsupportedPtxException if it contains an unsupported instruction, or cannot be made for another reason; other kernels of the module may be
     * usable
     * @throws NoSuchElementException if the module has no such kernel
     */
    public LoadedKernel kernel(String name) {
        if (!program.kernelNames().contains(name)) {
            throw new NoSuchElementException("the module has no kernel " + name);
        }
        return kernels.computeIfAbsent(name, this::make);
    }

    private LoadedKernel make(String name) {
        try {
            Kernel kernel = program.kernel(name);
            return new LoadedKernel(variables, kernel, translator.translate(kernel, symbols()));
        } catch (UnsupportedPtxException e) {
            throw e;
        } catch (RuntimeException | LinkageError | VirtualMachineError e) {
            // Texts are untrusted: one that is nested too deeply, or that causes an unexpected error, fails only its own kernel.
            throw new UnsupportedPtxException(name, e);
        }
    }

    private SymbolAddresses symbols() {
        return symbol -> {
            Long address = addresses.get(symbol);
            if (address == null) {
                throw new NoSuchElementException("the module has no symbol " + symbol);
            }
            return address;
        };
    }

    /** Frees its variables; its kernels must not be launched any more. */
    @Override
    public void close() {
        variables.globals().values().forEach(variable -> memory.free(variable.address()));
    }
}
