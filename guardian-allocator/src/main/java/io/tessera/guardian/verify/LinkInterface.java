package io.tessera.guardian.verify;

import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Linkage;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.ptx.Statement;
import io.tessera.guardian.ptx.Variable;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The links of a verified text to the texts that it is linked with: names that it defines or needs, with their shapes, and what its
 * functions call. The verifier reads it from the text that a driver gets, so {@link LinkCheck} believes nothing that a rewriter says.
 * Immutable.
 */
public final class LinkInterface {
    /** The frame of a return address and the registers that a function saves: no measured size, but no call is without a cost. */
    private static final long FRAME_BYTES = 16;

    /** How a text refers to a name. */
    enum Kind {
        /** Another text defines it. */
        NEEDED,
        /** Defined here, unless another text has a strong one. */
        WEAK,
        /** Defined here. */
        STRONG,
        /** A name of this text alone, but the loader looks it up by name. */
        OWN
    }

    /**
     * A name in a text.
     *
     * @param shape the properties in which all texts with the name must agree
     * @param line  line of its declaration
     */
    record Item(String name, Kind kind, String shape, int line) {
    }

    /**
     * A function with a body.
     *
     * @param kernel      whether it can be launched
     * @param frameBytes  bytes of the stack, per thread, for its own variables
     * @param shared      whether it names shared memory
     * @param clustered   whether it is always launched in clusters
     * @param callees     its callees, by their names in the text
     */
    record Routine(String name, int line, boolean kernel, long frameBytes, boolean shared, boolean clustered, Set<String> callees) {
    }

    final Mode mode;
    final List<Item> items = new ArrayList<>();
    /** Keyed by name. */
    final Map<String, Routine> routines = new LinkedHashMap<>();
    /** Functions of this text that other texts do not see by the name that is called, and what they are here. */
    final Map<String, String> own = new LinkedHashMap<>();
    /** For each name that other texts see: the name of its definition in this text. */
    final Map<String, String> shown = new LinkedHashMap<>();

    /**
     * Creates the interface of a text.
     *
     * @param shared  functions that name shared memory
     * @param without kernels that are not passed to a driver
     */
    public LinkInterface(ModuleNames module, Set<String> shared, Set<String> without) throws UnverifiedException {
        this.mode = module.mode();
        Set<String> named = new HashSet<>();
        for (PtxFunction function : module.functions.values()) {
            if (function.body().isPresent() && !without.contains(function.name())) {
                routines.put(function.name(), routine(function, module, shared.contains(function.name()), named));
            }
        }
        for (PtxFunction function : module.functions.values()) {
            if (!without.contains(function.name())) {
                function(function, module, named.contains(function.name()));
            }
        }
        for (String alias : module.aliases()) {
            if (!module.functions.containsKey(alias)) {
                throw new UnverifiedException(0, "'" + alias + "' is another name that nothing declares");
            }
        }
        for (Variable variable : module.variables) {
            variable(variable, named.contains(variable.name()), module.isAddress(variable.name()));
        }
    }

    private static Routine routine(PtxFunction function, ModuleNames module, boolean shared, Set<String> named) {
        long bytes = FRAME_BYTES;
        Set<String> callees = new LinkedHashSet<>();
        for (Statement statement : function.body().orElseThrow().statements()) {
            if (statement instanceof Variable variable && (variable.space() == StateSpace.LOCAL || variable.space() == StateSpace.PARAM)) {
                bytes += variable.sizeBytes();
            } else if (statement instanceof Instruction i) {
                for (Operand operand : i.operands()) {
                    String name = name(operand);
                    if (name != null && module.functions.containsKey(name)) {
                        callees.add(name);
                    }
                    if (name != null) {
                        named.add(name);
                    }
                }
            }
        }
        boolean clustered = function.attribute("reqnctapercluster").isPresent() || function.attribute("explicitcluster").isPresent();
        return new Routine(function.name(), function.line(), function.kind() == PtxFunction.Kind.ENTRY, bytes, shared, clustered, callees);
    }

    private static String name(Operand operand) {
        return switch (operand) {
            case Operand.Symbol(String name, long _) -> name;
            case Operand.Address(Operand.Named(String name), long _) -> name;
            default -> null;
        };
    }

    private void function(PtxFunction function, ModuleNames module, boolean called) throws UnverifiedException {
        String target = module.alias(function.name());
        if (target != null) {
            PtxFunction real = module.functions.get(target);
            boolean defined = function.body().isEmpty() && real != null && real.body().isPresent() && real.kind() == PtxFunction.Kind.FUNC;
            if (!defined || !ModuleNames.shape(real).equals(ModuleNames.shape(function))
                    || function.attribute("noreturn").isPresent() && real.attribute("noreturn").isEmpty()) {
                throw new UnverifiedException(function.line(), "'" + function.name() + "' is no other name of '" + target + "'");
            }
        }
        String here = target != null ? target : function.body().isPresent() ? function.name() : null;
        if (here == null) {
            if (called) {
                items.add(new Item(function.name(), Kind.NEEDED, ModuleNames.shape(function), function.line()));
            }
        } else if (function.linkage() == Linkage.INTERNAL && function.kind() == PtxFunction.Kind.FUNC) {
            own.put(function.name(), here);
        } else {
            shown.put(function.name(), here);
            items.add(new Item(function.name(), function.linkage() == Linkage.WEAK ? Kind.WEAK : Kind.STRONG, ModuleNames.shape(function),
                    function.line()));
        }
    }

    private void variable(Variable variable, boolean used, boolean address) throws UnverifiedException {
        Kind kind = switch (variable.linkage()) {
            case EXTERN -> Kind.NEEDED;
            case WEAK -> Kind.WEAK;
            case VISIBLE -> Kind.STRONG;
            case INTERNAL -> Kind.OWN;
            case COMMON -> throw new UnverifiedException(variable.line(), "'" + variable.name() + "' is of several texts");
        };
        boolean dynamic = variable.space() == StateSpace.SHARED && variable.dimensions().contains(Variable.UNSIZED);
        // Memory whose size the launch gives has one place for all names, aligned as the strictest of them wants it.
        if (!dynamic && (kind == Kind.NEEDED ? used : kind != Kind.OWN || address)) {
            String shape = variable.space() + " " + variable.sizeBytes() + " bytes aligned to " + variable.alignment();
            items.add(new Item(variable.name(), kind, shape, variable.line()));
        }
    }
}
