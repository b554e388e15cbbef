package io.tessera.software.processor;

import io.tessera.software.execution.KernelTranslator;
import io.tessera.software.memory.AddressKind;
import io.tessera.software.memory.DeviceMemory;
import io.tessera.software.memory.RealMemory;
import io.tessera.software.program.AddressSpace;
import io.tessera.software.program.LoweredProgram;
import io.tessera.software.program.ModuleVariable;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.concurrent.atomic.AtomicLong;

/** Lays the variables of a module out in device memory and gives its functions code addresses. */
final class ModuleLoader {
    /**
     * Code addresses count up from here, over all modules of the process: above every address that a program on
     * x86-64 can have, so that none is taken for data.
     */
    private static final AtomicLong NEXT_CODE = new AtomicLong(1L << 56);
    private static final long CODE_STEP = 16;

    private final DeviceMemory memory;
    private final Map<String, GlobalVariable> globals = new LinkedHashMap<>();
    private final Map<String, Long> addresses = new HashMap<>();

    private ModuleLoader(DeviceMemory memory) {
        this.memory = memory;
    }

    /**
     * Loads a module.
     *
     * @throws io.tessera.software.memory.OutOfDeviceMemoryException if its variables do not fit
     * @throws NoSuchElementException if it refers to a variable that only another module has
     */
    static LoadedModule load(DeviceMemory memory, KernelTranslator translator, LoweredProgram program) {
        ModuleLoader loader = new ModuleLoader(memory);
        try {
            loader.place(program);
            program.variables().values().forEach(loader::initialise);
        } catch (RuntimeException e) {
            loader.globals.values().forEach(variable -> memory.free(variable.address()));
            throw e;
        }
        return new LoadedModule(memory, translator, program, loader.globals, loader.addresses);
    }

    private void place(LoweredProgram program) {
        for (String function : program.functionNames()) {
            addresses.put(function, NEXT_CODE.getAndAdd(CODE_STEP));
        }
        for (ModuleVariable variable : program.variables().values()) {
            if (!variable.external()) {
                AddressKind kind = variable.space() == AddressSpace.CONST ? AddressKind.CONST : AddressKind.GLOBAL;
                long address = memory.allocate(Math.max(1, variable.bytes()), variable.align(), kind);
                globals.put(variable.name(), new GlobalVariable(variable.name(), address, variable.bytes()));
                addresses.put(variable.name(), address);
            }
        }
    }

    private void initialise(ModuleVariable variable) {
        if (variable.external()) {
            return;
        }
        long address = addresses.get(variable.name());
        RealMemory.put(address, variable.initial());
        for (ModuleVariable.Reference reference : variable.references()) {
            Long target = addresses.get(reference.symbol());
            if (target == null) {
                throw new NoSuchElementException(variable.name() + " refers to " + reference.symbol()
                        + ", which the module does not define");
            }
            long value = target + reference.addend() >>> reference.shift();
            for (int i = 0; i < reference.bytes(); i++) {
                RealMemory.putByte(address + reference.offset() + i, (byte) (value >>> 8 * i));
            }
        }
    }
}
