package io.tessera.guardian.fence.variable;

import io.tessera.guardian.fence.FenceRefusedException;
import io.tessera.guardian.fence.WindowConstants;
import io.tessera.guardian.ptx.Alias;
import io.tessera.guardian.ptx.Directive;
import io.tessera.guardian.ptx.Linkage;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.ScalarType;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.ptx.Variable;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Functions and variables of a module by name, and which of the variables move into the window. Not thread-safe. */
public final class ModuleSymbols {
    /** Size of the user constants of every module. */
    public static final long CONSTANT_BYTES = 64 << 10;
    private static final long FNV_OFFSET = 0xcbf29ce484222325L;
    private static final long FNV_PRIME = 0x100000001b3L;

    private final Map<String, Variable> variables = new LinkedHashMap<>();
    private final Map<String, PtxFunction> functions = new LinkedHashMap<>();
    private final Map<String, String> aliases = new HashMap<>();
    private final Map<Long, String> tokens = new HashMap<>();
    private final Set<String> addressTaken = new HashSet<>();
    private final Set<String> refused = new HashSet<>();
    private boolean constantsMove;

    /** Those of a module. */
    public ModuleSymbols(PtxModule module) throws FenceRefusedException {
        for (Directive directive : module.directives()) {
            switch (directive) {
                case Variable variable -> {
                    Variable known = variables.get(variable.name());
                    if (known == null || known.linkage() == Linkage.EXTERN) {
                        variables.put(variable.name(), variable);
                    }
                }
                case PtxFunction function -> {
                    PtxFunction known = functions.get(function.name());
                    if (known == null || known.body().isEmpty()) {
                        functions.put(function.name(), function);
                    }
                }
                case Alias alias -> aliases.put(alias.name(), alias.target());
                default -> {}
            }
        }
        checkNames();
    }

    /** Returns whether a variable is visible only in this module. */
    public boolean isInternal(String variable) {
        Variable known = variables.get(variable);
        return known != null && known.linkage() == Linkage.INTERNAL;
    }

    /** A number that differs between modules as good as always, and is the same for the same module in every process. */
    public int fingerprint() {
        long hash = FNV_OFFSET;
        for (PtxFunction function : functions.values()) {
            long size = function.body().map(body -> (long) body.statements().size()).orElse(0L);
            hash = (hash ^ function.name().hashCode()) * FNV_PRIME;
            hash = (hash ^ size << Integer.SIZE ^ function.line()) * FNV_PRIME;
        }
        for (Variable variable : variables.values()) {
            hash = (hash ^ variable.name().hashCode() ^ variable.sizeBytes() << Integer.SIZE) * FNV_PRIME;
        }
        return (int) (hash ^ hash >>> Integer.SIZE);
    }

    private void checkNames() throws FenceRefusedException {
        for (Variable variable : variables.values()) {
            reserved(variable.name(), variable.line());
        }
        for (PtxFunction function : functions.values()) {
            reserved(function.name(), function.line());
        }
    }

    /** Refuses a name that the rewriter keeps for itself. */
    static void reserved(String name, int line) throws FenceRefusedException {
        if (name.startsWith(WindowConstants.PREFIX) || name.startsWith("%" + WindowConstants.PREFIX)) {
            throw new FenceRefusedException(name, line, "begins with " + WindowConstants.PREFIX
                    + ", which fenced modules keep for themselves");
        }
    }

    /** Name of the constant that holds a variable's address; see {@code ModulePlan.addressConstant}. */
    public static String addressConstant(String variable) {
        return WindowConstants.PREFIX + "at_" + variable;
    }

    /** All variables of the module, definitions before declarations of the same name. */
    public Collection<Variable> variables() {
        return variables.values();
    }

    /** The variable of that name, or null. */
    public Variable variable(String name) {
        return variables.get(name);
    }

    /** Returns the function with that name or alias (its definition if there is one), or null. */
    public PtxFunction function(String name) {
        return functions.get(aliases.getOrDefault(name, name));
    }

    /** All functions, each once. */
    Collection<PtxFunction> functions() {
        return functions.values();
    }

    /** From now on, {@code .const} variables move into the window, too. */
    public void moveConstants() {
        constantsMove = true;
    }

    /** Returns whether {@code .const} variables move into the window. */
    public boolean constantsMove() {
        return constantsMove;
    }

    /** Returns whether a variable of the module moves into the window. */
    public boolean hoists(String name) {
        Variable variable = variables.get(name);
        return variable != null && hoists(variable);
    }

    /** Returns whether the variable moves into the window. */
    public boolean hoists(Variable variable) {
        return variable.type().kind() != ScalarType.Kind.OPAQUE && (variable.space() == StateSpace.GLOBAL
                || variable.space() == StateSpace.CONST && constantsMove);
    }

    /** The value that stands for a function's address, if the name is a function's, else null. Notes that it was taken. */
    public Long token(String name) throws FenceRefusedException {
        PtxFunction function = function(name);
        if (function == null) {
            return null;
        }
        long hash = FNV_OFFSET;
        for (int i = 0; i < function.name().length(); i++) {
            hash = (hash ^ function.name().charAt(i)) * FNV_PRIME;
        }
        // Code that tests low bits of a function pointer (C++ member pointers) sees an aligned one.
        long token = hash & ~0xFL | 0x10;
        String owner = tokens.putIfAbsent(token, function.name());
        if (owner != null && !owner.equals(function.name())) {
            throw new FenceRefusedException(name, function.line(), "and " + owner + " have the same number");
        }
        addressTaken.add(function.name());
        return token;
    }

    /** Functions with a body whose addresses were asked for, in the order of the module. */
    public List<PtxFunction> addressTaken() {
        return functions.values().stream().filter(f -> addressTaken.contains(f.name()) && !refused.contains(f.name())
                && f.body().isPresent() && f.kind() == PtxFunction.Kind.FUNC).toList();
    }

    /** A function that no indirect call may reach. */
    public void refuse(String function) {
        refused.add(function);
    }
}
