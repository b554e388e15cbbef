package io.tessera.guardian.ptx.parse;

import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.ScalarType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Resolves the names of a module while it is read, as NVIDIA's assembler does. A register or variable is known from its declaration on, in its block
 * and the nested blocks; a label is known in all of its block. Every declaration in a function gets a unique name, so that no two entities of a
 * function or module share a name in the tree. Names of the module stay. Not thread-safe.
 */
final class Scopes {
    /** Prefix of the names of variables and parameters of functions in the tree; digits follow. */
    static final String VARIABLE = "$v";
    /** Prefix of the names of labels in the tree; digits follow. */
    static final String LABEL = "$L";
    /** Prefix of the names of module variables that a function declares, in the tree; digits follow. */
    private static final String INNER_GLOBAL = "$g";
    /** Prefix of the names of registers in a function's head, in the tree; digits follow. */
    private static final String ARGUMENT = "%a";
    /** Prefix of the placeholder, with a number, of a name that is not yet known: no name begins with it. */
    private static final String PLACEHOLDER = "?";
    /** Digits of the highest number of a row. */
    private static final int MOST_DIGITS = 10;

    /** {@code %rd<9>}. */
    private record Row(ScalarType type, int lanes, int count, Map<Integer, Declared> members) {
    }

    /** Names of one block. */
    private static final class Scope {
        private final Map<String, Declared> names = new HashMap<>(8);
        private final Map<String, Row> rows = new HashMap<>(4);
        /** The lowest number of names that a row could have, by what stands before it. */
        private final Map<String, Long> lowest = new HashMap<>(4);
        private final Map<String, Reference> open = new HashMap<>(4);
    }

    /** A name that was used where nothing of that name was known: a label further on, or one of the module. */
    private static final class Reference {
        private final String name;
        private final String placeholder;
        private final int line;
        private final int column;
        private Reference sameAs;
        private String resolved;

        private Reference(String name, String placeholder, int line, int column) {
            this.name = name;
            this.placeholder = placeholder;
            this.line = line;
            this.column = column;
        }

        private String resolved() {
            Reference last = this;
            while (last.sameAs != null) {
                last = last.sameAs;
            }
            return last.resolved;
        }
    }

    /** The module's declaration of a name. */
    private static final class Global {
        private final boolean function;
        private boolean defined;

        private Global(boolean function) {
            this.function = function;
        }
    }

    private final Tokens tokens;
    private final RegisterRows registers = new RegisterRows();
    private final Map<String, Global> globals = new HashMap<>();
    private final List<Scope> open = new ArrayList<>();
    /** The references of the function that is being read, by the number of the placeholder. */
    private final List<Reference> references = new ArrayList<>();
    private final Map<String, Reference> uses = new HashMap<>();
    private int variables;
    private int labels;
    private int arguments;
    private int innerGlobals;

    Scopes(Tokens tokens) {
        this.tokens = tokens;
    }

    /** A function or variable of the module. */
    void declareGlobal(String name, boolean function, boolean defines) throws PtxException {
        if (name.startsWith("%") || isOurs(name, VARIABLE) || isOurs(name, LABEL)) {
            throw tokens.errorAtName("'" + name + "' is no name for a function or variable of a module here");
        }
        Global known = globals.computeIfAbsent(name, unused -> new Global(function));
        if (known.function != function) {
            throw tokens.errorAtName("'" + name + "' is declared as a function and as a variable");
        }
        if (known.defined && defines) {
            throw tokens.errorAtName((function ? "function '" : "variable '") + name + "' is defined twice");
        }
        known.defined |= defines;
    }

    private static boolean isOurs(String name, String prefix) {
        return name.startsWith(prefix) && name.length() > prefix.length() && digitsFrom(name) == prefix.length();
    }

    /** Returns the start of the digits at the end of a name. */
    private static int digitsFrom(String name) {
        int from = name.length();
        while (from > 0 && name.charAt(from - 1) >= '0' && name.charAt(from - 1) <= '9') {
            from--;
        }
        return from;
    }

    RegisterRows registers() {
        return registers;
    }

    void enter() {
        if (open.isEmpty()) {
            references.clear();
            arguments = 0;
        }
        open.add(new Scope());
    }

    /** Ends a block: what it used and did not declare may be a label of the block around it. */
    void leave() throws PtxException {
        Scope inner = open.removeLast();
        for (Reference reference : inner.open.values()) {
            Declared declared = here(inner, reference.name);
            if (declared != null && declared.kind() != Declared.Kind.LABEL) {
                throw error(reference, "'" + reference.name + "' is used before it is declared");
            }
            if (declared != null) {
                reference.resolved = declared.name();
            } else if (open.isEmpty()) {
                reference.resolved = reference.name;
                use(reference);
            } else {
                reference.sameAs = open.getLast().open.putIfAbsent(reference.name, reference);
            }
        }
    }

    private void use(Reference reference) throws PtxException {
        if (reference.name.startsWith("%")) {
            throw error(reference, "register '" + reference.name + "' is not declared");
        }
        if (!globals.containsKey(reference.name)) {
            uses.putIfAbsent(reference.name, reference);
        }
    }

    private static PtxException error(Reference reference, String what) {
        return new PtxException(reference.line, reference.column, what);
    }

    /** Ends the module: every name that was used must be declared. */
    void leaveModule() throws PtxException {
        for (Reference reference : uses.values()) {
            if (!globals.containsKey(reference.name)) {
                throw error(reference, "nothing is named '" + reference.name + "'");
            }
        }
    }

    boolean inFunction() {
        return !open.isEmpty();
    }

    /** A variable or parameter of a function; gives its name in the tree. */
    String declareVariable(String name) throws PtxException {
        String given = VARIABLE + variables++;
        declare(name, Declared.variable(given));
        return given;
    }

    /** Declares a variable in a function's body that lives as long as the module; returns its name in the tree, which is one of the module. */
    String declareInnerGlobal(String name) throws PtxException {
        String given = INNER_GLOBAL + innerGlobals++;
        declareGlobal(given, false, true);
        declare(name, Declared.variable(given));
        return given;
    }

    /** A label, prototype or list of targets; gives its name in the tree. */
    String declareLabel(String name) throws PtxException {
        if (globals.containsKey(name)) {
            throw tokens.errorAtName("label '" + name + "' has the name of a function or variable of the module");
        }
        String given = LABEL + labels++;
        declare(name, Declared.label(given));
        return given;
    }

    /** A register of a body. */
    void declareRegister(String name, ScalarType type, int lanes) throws PtxException {
        declare(name, Declared.register(type, lanes));
    }

    /** A register of a function's head; gives the names of its lanes in the tree. */
    List<Operand.Register> declareArgument(String name, ScalarType type, int lanes) throws PtxException {
        List<Operand.Register> given = new ArrayList<>(lanes);
        for (int i = 0; i < lanes; i++) {
            given.add(new Operand.Register(ARGUMENT + arguments++));
        }
        declare(name, Declared.register(type, given));
        return given;
    }

    private void declare(String name, Declared declared) throws PtxException {
        Scope scope = open.getLast();
        if (member(scope, name) != null || scope.names.putIfAbsent(name, declared) != null) {
            throw tokens.errorAtName("'" + name + "' is declared twice");
        }
        int digits = digitsFrom(name);
        if (digits < name.length()) {
            long number = name.length() - digits > MOST_DIGITS ? Long.MAX_VALUE
                    : Long.parseLong(name, digits, name.length(), 10);
            scope.lowest.merge(name.substring(0, digits), number, Math::min);
        }
    }

    /** Declares {@code prefix0} to {@code prefix(count-1)} as registers. */
    void declareRow(String prefix, ScalarType type, int lanes, int count) throws PtxException {
        Scope scope = open.getLast();
        if (scope.rows.putIfAbsent(prefix, new Row(type, lanes, count, new HashMap<>())) != null
                || scope.lowest.getOrDefault(prefix, Long.MAX_VALUE) < count) {
            throw tokens.errorAtName("'" + prefix + "<" + count + ">' is declared twice");
        }
    }

    /**
     * The meaning of a name here: the innermost declaration up to now. Null where none has, and where it is a label of an outer block,
     * since the inner one may have a label of that name further on.
     */
    Declared find(String name) {
        for (int i = open.size() - 1; i >= 0; i--) {
            Declared declared = here(open.get(i), name);
            if (declared != null) {
                return declared.kind() == Declared.Kind.LABEL && i < open.size() - 1 ? null : declared;
            }
        }
        return null;
    }

    private static Declared here(Scope scope, String name) {
        Declared declared = scope.names.get(name);
        return declared != null || scope.rows.isEmpty() ? declared : member(scope, name);
    }

    /** As in NVIDIA's assembler, all digits at the end of a name are its number in a row. */
    private static Declared member(Scope scope, String name) {
        int digits = scope.rows.isEmpty() ? name.length() : digitsFrom(name);
        if (digits == name.length() || name.length() - digits > MOST_DIGITS) {
            return null;
        }
        Row row = scope.rows.get(name.substring(0, digits));
        long number = row == null ? 0 : Long.parseLong(name, digits, name.length(), 10);
        return row == null || number >= row.count() ? null
                : row.members().computeIfAbsent((int) number, unused -> Declared.register(row.type(), row.lanes()));
    }

    /** Returns whether the module has declared a function or variable of that name. */
    boolean isGlobal(String name) {
        return globals.containsKey(name);
    }

    /** Records the use of an unknown name, and returns the placeholder for it until the function has been read. */
    String refer(String name, int line, int column) {
        return open.getLast().open.computeIfAbsent(name, unused -> {
            Reference reference = new Reference(name, PLACEHOLDER + references.size(), line, column);
            references.add(reference);
            return reference;
        }).placeholder;
    }

    /** The name that a placeholder of a function that has been read stood for; any other name as it is. */
    String resolved(String name) {
        return name.startsWith(PLACEHOLDER) ? references.get(Integer.parseInt(name, 1, name.length(), 10)).resolved() : name;
    }

    /** Records the use of a name by the module itself. */
    void useGlobal(String name, int line, int column) throws PtxException {
        use(new Reference(name, name, line, column));
    }
}
