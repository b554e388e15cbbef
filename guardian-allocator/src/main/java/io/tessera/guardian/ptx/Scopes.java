package io.tessera.guardian.ptx;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Names of a module while it is read: the module's, the function's parameters, and those of its nested blocks. Tells
 * registers from other names, and finds names that are declared twice or nowhere. Not thread-safe.
 */
final class Scopes {
    /** What a name of a function is. */
    enum Kind {
        /** A register. */
        REGISTER,
        /** A variable or parameter. */
        VARIABLE,
        /** A label. */
        LABEL
    }

    /** Names of one block. */
    private static final class Scope {
        private final Map<String, Kind> names = new HashMap<>(8);
        /** Rows of registers: prefix to count. */
        private final Map<String, Integer> rows = new HashMap<>(8);
    }

    /** A name that was used before anything of that name was seen. */
    private record Use(String name, int line, int column) {
    }

    /** What the module declares under a name. */
    private static final class Global {
        private final boolean function;
        private boolean defined;

        private Global(boolean function) {
            this.function = function;
        }
    }

    /** Digits of the highest count of a row. */
    private static final int MOST_DIGITS = 10;

    private final Tokens tokens;
    private final Map<String, Global> globals = new HashMap<>();
    private final List<Scope> open = new ArrayList<>();
    private final Set<String> labels = new HashSet<>();
    private final Map<String, Use> usesInFunction = new HashMap<>();
    private final Map<String, Use> uses = new HashMap<>();

    Scopes(Tokens tokens) {
        this.tokens = tokens;
    }

    /** A function or variable of the module. */
    void declareGlobal(String name, boolean function, boolean defines) throws PtxException {
        Global known = globals.computeIfAbsent(name, unused -> new Global(function));
        if (known.function != function) {
            throw tokens.errorAtName("'" + name + "' is declared as a function and as a variable");
        }
        if (known.defined && defines) {
            throw tokens.errorAtName((function ? "function '" : "variable '") + name + "' is defined twice");
        }
        known.defined |= defines;
    }

    void enter() {
        open.add(new Scope());
    }

    void leave() {
        open.removeLast();
    }

    /** Ends a function: names that it used and are none of its labels have to be the module's. */
    void leaveFunction() {
        leave();
        for (Use use : usesInFunction.values()) {
            if (!labels.contains(use.name())) {
                uses.putIfAbsent(use.name(), use);
            }
        }
        usesInFunction.clear();
        labels.clear();
    }

    /** Ends the module: every name that was used has to be declared. */
    void leaveModule() throws PtxException {
        for (Use use : uses.values()) {
            if (!globals.containsKey(use.name())) {
                throw new PtxException(use.line(), use.column(), "nothing is named '" + use.name() + "'");
            }
        }
    }

    boolean inFunction() {
        return !open.isEmpty();
    }

    void declare(String name, Kind kind) throws PtxException {
        Scope scope = open.getLast();
        if (scope.names.putIfAbsent(name, kind) != null || inRow(scope, name)) {
            throw tokens.errorAtName("'" + name + "' is declared twice");
        }
        if (kind == Kind.LABEL) {
            labels.add(name);
        }
    }

    /** Declares {@code prefix0} to {@code prefix(count-1)} as registers. */
    void declareRow(String prefix, int count) throws PtxException {
        if (open.getLast().rows.putIfAbsent(prefix, count) != null) {
            throw tokens.errorAtName("'" + prefix + "<" + count + ">' is declared twice");
        }
    }

    /** What a name is in the innermost block that declares it, or null. */
    Kind find(String name) {
        for (int i = open.size() - 1; i >= 0; i--) {
            Scope scope = open.get(i);
            Kind kind = scope.names.get(name);
            if (kind != null) {
                return kind;
            }
            if (!scope.rows.isEmpty() && inRow(scope, name)) {
                scope.names.put(name, Kind.REGISTER);
                return Kind.REGISTER;
            }
        }
        return null;
    }

    /** As NVIDIA's assembler does, all digits at the end of a name are its number, which has no leading zero. */
    private static boolean inRow(Scope scope, String name) {
        int digits = name.length();
        while (digits > 0 && name.charAt(digits - 1) >= '0' && name.charAt(digits - 1) <= '9') {
            digits--;
        }
        int length = name.length() - digits;
        if (length == 0 || length > MOST_DIGITS || name.charAt(digits) == '0' && length > 1) {
            return false;
        }
        Integer count = scope.rows.get(name.substring(0, digits));
        return count != null && Long.parseLong(name, digits, name.length(), 10) < count;
    }

    /** Notes the use of a name that no block declares: a label further on, or one of the module. */
    void use(String name, int line, int column) {
        Map<String, Use> into = inFunction() ? usesInFunction : uses;
        if (!into.containsKey(name) && !globals.containsKey(name)) {
            into.put(name, new Use(name, line, column));
        }
    }
}
