package io.tessera.guardian.fence.proof;

import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.RegisterDeclaration;
import io.tessera.guardian.ptx.ScalarType;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.ptx.Statement;
import io.tessera.guardian.ptx.Variable;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Names of a function while its body is walked in order: a register is a number, told apart from others of its name in other
 * blocks. Not thread-safe.
 */
final class RegisterNames {
    /** A name that is no register. */
    static final int NONE = -1;

    private record Row(ScalarType type, int vectorLength, int count) {
    }

    private static final class Scope {
        private final Map<String, Integer> registers = new HashMap<>();
        private final Map<String, Row> rows = new HashMap<>(8);
        private final Map<String, Variable> variables = new HashMap<>(8);
    }

    private final Map<String, Variable> globals = new HashMap<>();
    private final Map<String, Integer> declarations = new HashMap<>();
    private final List<Scope> open = new ArrayList<>();
    private final List<ScalarType> types = new ArrayList<>();
    private final List<String> names = new ArrayList<>();
    private final BitSet plain = new BitSet();
    private boolean nestedRegisters;
    /** How many registers have each name; made when somebody asks. */
    private Map<String, Integer> occurrences;

    /** The names of the module and of the function's head. */
    RegisterNames(PtxFunction function, PtxModule module) {
        for (Variable variable : module.variables()) {
            // An extern declaration and the definition may both stand in the module.
            globals.merge(variable.name(), variable, (a, b) -> a.sizeBytes() >= b.sizeBytes() ? a : b);
        }
        enter();
        function.returns().forEach(this::variable);
        function.parameters().forEach(this::variable);
    }

    void enter() {
        open.add(new Scope());
    }

    void leave() {
        open.removeLast();
    }

    /** Notes what a statement declares. */
    void declare(Statement statement) {
        switch (statement) {
            case Variable variable -> variable(variable);
            case RegisterDeclaration registers -> registers(registers);
            default -> {
                // Declares nothing.
            }
        }
    }

    private void variable(Variable variable) {
        declarations.merge(variable.name(), 1, Integer::sum);
        if (variable.space() == StateSpace.REG) {
            add(variable.name(), variable.type(), variable.vectorLength());
        } else {
            open.getLast().variables.put(variable.name(), variable);
        }
    }

    private void registers(RegisterDeclaration declaration) {
        nestedRegisters |= open.size() > 2;
        for (RegisterDeclaration.Names each : declaration.names()) {
            if (each.count() == RegisterDeclaration.Names.SINGLE) {
                add(each.name(), declaration.type(), declaration.vectorLength());
            } else {
                open.getLast().rows.put(each.name(),
                        new Row(declaration.type(), declaration.vectorLength(), each.count()));
            }
        }
    }

    private int add(String name, ScalarType type, int vectorLength) {
        return add(open.getLast(), name, type, vectorLength, open.size() <= 2);
    }

    private int add(Scope scope, String name, ScalarType type, int vectorLength, boolean outermost) {
        int number = types.size();
        types.add(vectorLength == 1 ? type : ScalarType.B128);
        names.add(name);
        plain.set(number, outermost);
        scope.registers.put(name, number);
        return number;
    }

    /** The register of a name at this place of the walk, or {@link #NONE}. */
    int register(String name) {
        for (int i = open.size() - 1; i >= 0; i--) {
            Scope scope = open.get(i);
            Integer known = scope.registers.get(name);
            if (known != null) {
                return known;
            }
            if (scope.variables.containsKey(name)) {
                return NONE;
            }
            if (!scope.rows.isEmpty()) {
                int found = inRow(scope, name, i < 2);
                if (found != NONE) {
                    return found;
                }
            }
        }
        return NONE;
    }

    private int inRow(Scope scope, String name, boolean outermost) {
        int digits = name.length();
        while (digits > 0 && name.charAt(digits - 1) >= '0' && name.charAt(digits - 1) <= '9') {
            digits--;
        }
        int length = name.length() - digits;
        if (length == 0 || length > 10) {
            return NONE;
        }
        Row row = scope.rows.get(name.substring(0, digits));
        if (row == null || Long.parseLong(name, digits, name.length(), 10) >= row.count()) {
            return NONE;
        }
        return add(scope, name, row.type(), row.vectorLength(), outermost);
    }

    /** The variable of a name at this place, or null where there is none or its name is declared more than once. */
    Variable variable(String name) {
        if (declarations.getOrDefault(name, 0) > 1) {
            return null;
        }
        for (int i = open.size() - 1; i >= 0; i--) {
            Variable known = open.get(i).variables.get(name);
            if (known != null) {
                return known;
            }
        }
        return declarations.containsKey(name) ? null : globals.get(name);
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

    /** Whether it is one of the function's outermost block and no inner block hides its name. */
    boolean plain(int register) {
        return plain.get(register) && (!nestedRegisters || occurrences(names.get(register)) == 1);
    }

    /** Once all names are known. */
    private int occurrences(String name) {
        if (occurrences == null) {
            occurrences = new HashMap<>();
            names.forEach(each -> occurrences.merge(each, 1, Integer::sum));
        }
        return occurrences.get(name);
    }
}
