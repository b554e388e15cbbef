package io.tessera.guardian.fence.proof.graph;

import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.Variable;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Facts about a module that the analysis of each function needs. Created once per module: a search through the module for each function would take
 * quadratic time. Immutable.
 */
public final class AnalysedModule {
    private final List<String> targets;
    private final Map<String, Variable> variables = new HashMap<>();

    /** Creates the facts of a module that is not yet rewritten. */
    public AnalysedModule(PtxModule module) {
        targets = module.targets();
        for (Variable variable : module.variables()) {
            // An extern declaration and the definition may both stand in the module.
            variables.merge(variable.name(), variable, (a, b) -> a.sizeBytes() >= b.sizeBytes() ? a : b);
        }
    }

    /** Returns the targets of the module, as {@link PtxModule#targets}. */
    List<String> targets() {
        return targets;
    }

    /** The module's variable of a name, or null. */
    Variable variable(String name) {
        return variables.get(name);
    }
}
