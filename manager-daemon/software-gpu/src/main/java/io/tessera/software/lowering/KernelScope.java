package io.tessera.software.lowering;

import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.Variable;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** State that the functions of one kernel share: the module's names, shared memory, and their own numbers. Immutable. */
final class KernelScope {
    private final LoweringSymbols program;
    private final SharedMemoryLayout shared;
    private final Map<String, Integer> indices = new HashMap<>();

    /**
     * The scope of a kernel.
     *
     * @param functions that it reaches, in the order of their numbers
     */
    KernelScope(LoweringSymbols program, SharedMemoryLayout shared, List<PtxFunction> functions) {
        this.program = program;
        this.shared = shared;
        functions.forEach(function -> indices.put(function.name(), indices.size()));
    }

    LoweringSymbols program() {
        return program;
    }

    SharedMemoryLayout shared() {
        return shared;
    }

    /** Index of a reached function, or -1. */
    int functionIndex(String name) {
        PtxFunction function = program.function(name);
        return function == null ? -1 : indices.getOrDefault(function.name(), -1);
    }

    /** Place of a variable of the module; null if there is none. */
    Scope.Place place(String name) {
        Variable variable = program.sharedVariable(name);
        if (variable != null) {
            return new Scope.Place.Shared(shared.offset(variable));
        }
        return program.variables().containsKey(name) ? new Scope.Place.Module(name) : null;
    }
}
