package io.tessera.guardian.fence.proof.graph;

import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.RegisterDeclaration;
import io.tessera.guardian.ptx.ScalarType;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.ptx.Statement;
import io.tessera.guardian.ptx.Variable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Numbers of a function's registers, and the variables that its names mean. Not thread-safe. */
final class RegisterNames {
    /** A name that is not a register. */
    static final int NONE = -1;

    private final Map<String, ScalarType> declared = new HashMap<>();
    private final AnalysedModule module;
    /** The variables of the function alone. */
    private final Map<String, Variable> variables = new HashMap<>();
    private final Map<String, Integer> numbers = new HashMap<>();
    private final List<ScalarType> types = new ArrayList<>();
    private final List<String> names = new ArrayList<>();

    RegisterNames(PtxFunction function, AnalysedModule module) {
        this.module = module;
        function.returns().forEach(this::head);
        function.parameters().forEach(this::head);
        for (Statement statement : function.body().orElseThrow().statements()) {
            switch (statement) {
                case RegisterDeclaration row -> declared.put(row.prefix(), row.type());
                case Variable variable -> variables.put(variable.name(), variable);
                default -> {
                    // Declares nothing.
                }
            }
        }
    }

    private void head(Variable variable) {
        if (variable.space() == StateSpace.REG) {
            declared.put(variable.name(), variable.type());
        } else {
            variables.put(variable.name(), variable);
        }
    }

    /** The register of a name, or {@link #NONE}. */
    int register(String name) {
        Integer known = numbers.get(name);
        if (known != null) {
            return known;
        }
        ScalarType own = declared.get(name);
        int end = name.length();
        while (end > 0 && name.charAt(end - 1) >= '0' && name.charAt(end - 1) <= '9') {
            end--;
        }
        ScalarType type = own != null ? own : declared.get(name.substring(0, end));
        if (type == null) {
            return NONE;
        }
        numbers.put(name, types.size());
        types.add(type);
        names.add(name);
        return types.size() - 1;
    }

    /** The variable of a name, or null. */
    Variable variable(String name) {
        Variable own = variables.get(name);
        return own != null ? own : module.variable(name);
    }

    int count() {
        return types.size();
    }

    ScalarType type(int register) {
        return types.get(register);
    }

    String name(int register) {
        return names.get(register);
    }
}
