package io.tessera.guardian.fence.proof.graph;

import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.Variable;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What the analysis of a function has to know of its module. Made once for a module: a look through the module for each function would take
 * the square of their number. Immutable.
 */
public final class AnalysedModule {
    private final List<String> targets;
    private final Map<String, Variable> variables = new HashMap<>();

    /** For a module as it stands before anything was rewritten. */
    public AnalysedModule(PtxModule module) {
        targets = module.targets();
        for (Variable variable : module.variables()) {
            // An extern declaration and the definition may both stand in the module.
            variables.merge(variable.name(), variable, (a, b) -> a.sizeBytes() >= b.sizeBytes() ? a : b);
        }
    }

    /** What the module is for, as {@link PtxModule#targets}. */
    List<String> targets() {
        return targets;
    }

    /** The module's variable of a name, or null. */
    Variable variable(String name) {
        return variables.get(name);
    }
}
