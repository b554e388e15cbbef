package io.tessera.guardian.fence;

import io.tessera.guardian.ptx.Block;
import io.tessera.guardian.ptx.RegisterDeclaration;
import io.tessera.guardian.ptx.ScalarType;
import io.tessera.guardian.ptx.Statement;
import io.tessera.guardian.ptx.Variable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Types of registers and variables of a function, by the blocks that are open. Not thread-safe. */
final class RegisterScopes {
    /** Names of one block. */
    private static final class Scope {
        private final Map<String, ScalarType> registers = new HashMap<>();
        private final Map<String, Row> rows = new HashMap<>();
        private final Map<String, Variable> variables = new HashMap<>();
    }

    /** {@code %rd<9>}. */
    private record Row(ScalarType type, int count) {
    }

    private final List<Scope> open = new ArrayList<>();

    /** Opens a block; true if it declares registers. */
    boolean enter(Block block) {
        Scope scope = new Scope();
        open.add(scope);
        for (Statement statement : block.statements()) {
            if (statement instanceof RegisterDeclaration declaration) {
                for (RegisterDeclaration.Names names : declaration.names()) {
                    declare(scope, declaration.type(), names);
                }
            } else if (statement instanceof Variable variable) {
                scope.variables.put(variable.name(), variable);
            }
        }
        return !scope.registers.isEmpty() || !scope.rows.isEmpty();
    }

    private static void declare(Scope scope, ScalarType type, RegisterDeclaration.Names names) {
        if (names.count() == RegisterDeclaration.Names.SINGLE) {
            scope.registers.put(names.name(), type);
        } else {
            scope.rows.put(names.name(), new Row(type, names.count()));
        }
    }

    /** Adds parameters to the outermost block that is open. */
    void parameters(List<Variable> parameters) {
        for (Variable parameter : parameters) {
            open.getFirst().variables.put(parameter.name(), parameter);
        }
    }

    /** Closes a block. */
    void leave() {
        open.removeLast();
    }

    /** The variable of that name that an open block declares, or null. */
    Variable variable(String name) {
        for (int i = open.size() - 1; i >= 0; i--) {
            Variable variable = open.get(i).variables.get(name);
            if (variable != null) {
                return variable;
            }
        }
        return null;
    }

    /** Type of a register, or null where none of that name is declared. */
    ScalarType type(String name) {
        int digits = name.length();
        while (digits > 0 && Character.isDigit(name.charAt(digits - 1))) {
            digits--;
        }
        for (int i = open.size() - 1; i >= 0; i--) {
            Scope scope = open.get(i);
            ScalarType type = scope.registers.get(name);
            Row row = type == null && digits < name.length() && name.length() - digits < 10
                    ? scope.rows.get(name.substring(0, digits)) : null;
            if (row != null && Long.parseLong(name.substring(digits)) < row.count()) {
                type = row.type();
            }
            if (type != null) {
                return type;
            }
        }
        return null;
    }
}
