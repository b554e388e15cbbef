package io.tessera.guardian.fence.text;

import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.RegisterDeclaration;
import io.tessera.guardian.ptx.ScalarType;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.ptx.Statement;
import io.tessera.guardian.ptx.Variable;
import java.util.HashMap;
import java.util.Map;

/** Types of the registers of a function, and its variables and parameters. Immutable once built. */
public final class FunctionNames {
    /** Keyed by the prefix of a row's names, or by the name of a register in the function's head. */
    private final Map<String, ScalarType> registers = new HashMap<>();
    private final Map<String, Variable> variables = new HashMap<>();

    /** Reads the declarations of a function that has a body. */
    public FunctionNames(PtxFunction function) {
        function.returns().forEach(this::head);
        function.parameters().forEach(this::head);
        for (Statement statement : function.body().orElseThrow().statements()) {
            switch (statement) {
                case RegisterDeclaration row -> registers.put(row.prefix(), row.type());
                case Variable variable -> variables.put(variable.name(), variable);
                default -> {}
            }
        }
    }

    private void head(Variable variable) {
        if (variable.space() == StateSpace.REG) {
            registers.put(variable.name(), variable.type());
        } else {
            variables.put(variable.name(), variable);
        }
    }

    /** The variable or parameter of that name, or null. */
    public Variable variable(String name) {
        return variables.get(name);
    }

    /** Type of a register; null of one that the rewriter added. */
    public ScalarType type(String name) {
        ScalarType own = registers.get(name);
        int end = name.length();
        while (end > 0 && Character.isDigit(name.charAt(end - 1))) {
            end--;
        }
        return own != null ? own : registers.get(name.substring(0, end));
    }
}
