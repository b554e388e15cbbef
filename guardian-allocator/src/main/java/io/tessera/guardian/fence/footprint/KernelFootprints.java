package io.tessera.guardian.fence.footprint;

import io.tessera.guardian.fence.KernelWrites;
import io.tessera.guardian.fence.instruction.Definitions;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.ptx.Variable;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Finds the parameters from which each kernel of a module derives the addresses that it writes and reads. The analysis ignores control flow: a
 * register has the origins of all instructions that write it ({@link OriginRules}). Time grows linearly with the text. Stateless.
 */
public final class KernelFootprints {
    /** Passes over a kernel. An address that goes through n nested loops takes about n of them. */
    private static final int MOST_PASSES = 64;

    private KernelFootprints() {
    }

    /**
     * Returns the result for each kernel that has a body, by name.
     *
     * @param module as the program has it, without fences
     */
    public static Map<String, KernelWrites> of(PtxModule module) {
        Map<String, StateSpace> spaces = new HashMap<>();
        for (Variable variable : module.variables()) {
            spaces.put(variable.name(), variable.space());
        }
        Set<String> defined = new HashSet<>();
        module.functions().stream().filter(function -> function.body().isPresent()).forEach(function -> defined.add(function.name()));
        Map<String, KernelWrites> footprints = new HashMap<>();
        for (PtxFunction function : module.functions()) {
            if (function.kind() == PtxFunction.Kind.ENTRY && function.body().isPresent()) {
                footprints.put(function.name(), of(function, spaces, defined));
            }
        }
        return footprints;
    }

    private static KernelWrites of(PtxFunction kernel, Map<String, StateSpace> spaces, Set<String> defined) {
        List<Instruction> code = kernel.body().orElseThrow().statements().stream().filter(Instruction.class::isInstance).map(Instruction.class::cast)
                .toList();
        OriginRules origins = new OriginRules(new KernelNames(kernel, spaces));
        List<Instruction> results = code.stream().filter(i -> !Definitions.of(i).isEmpty()).toList();
        boolean changed = true;
        for (int pass = 0; changed; pass++) {
            if (pass == MOST_PASSES) {
                return KernelWrites.unknown("The addresses of " + kernel.name() + " depend on each other in too many ways.");
            }
            changed = false;
            for (Instruction i : results) {
                changed |= origins.apply(i);
            }
        }
        return new AccessFootprint(kernel.name(), origins, defined).of(code);
    }
}
