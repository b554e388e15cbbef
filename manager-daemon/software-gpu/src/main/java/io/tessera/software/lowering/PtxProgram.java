package io.tessera.software.lowering;

import io.tessera.guardian.ptx.Alias;
import io.tessera.guardian.ptx.Directive;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.ScalarType;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.ptx.parse.PtxException;
import io.tessera.guardian.ptx.parse.PtxParser;
import io.tessera.software.program.Kernel;
import io.tessera.software.program.LoweredProgram;
import io.tessera.software.program.ModuleVariable;
import io.tessera.software.program.ReferenceKind;
import io.tessera.software.program.UnsupportedPtxException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** A program made from a PTX module. Thread-safe. */
public final class PtxProgram implements LoweredProgram, LoweringSymbols {
    private final Map<String, PtxFunction> entries = new LinkedHashMap<>();
    private final Map<String, PtxFunction> functions = new LinkedHashMap<>();
    private final Map<String, String> aliases = new LinkedHashMap<>();
    private final Map<String, ModuleVariable> variables = new LinkedHashMap<>();
    private final Map<String, ReferenceKind> references = new LinkedHashMap<>();
    private final Map<String, io.tessera.guardian.ptx.Variable> shared = new LinkedHashMap<>();
    private final Map<String, Kernel> kernels = new ConcurrentHashMap<>();

    private PtxProgram(PtxModule module) {
        if (module.addressBits() != 64) {
            throw new UnsupportedPtxException("", ".address_size " + module.addressBits(), 1);
        }
        for (Directive directive : module.directives()) {
            switch (directive) {
                case PtxFunction function when function.body().isPresent() ->
                    (function.kind() == PtxFunction.Kind.ENTRY ? entries : functions)
                            .put(function.name(), function);
                case Alias alias -> aliases.put(alias.name(), alias.target());
                case io.tessera.guardian.ptx.Variable variable -> declare(variable);
                default -> {
                    // Declarations, sections of debug information and pragmas hold nothing that runs.
                }
            }
        }
    }

    private void declare(io.tessera.guardian.ptx.Variable variable) {
        if (variable.type().kind() == ScalarType.Kind.OPAQUE) {
            reference(variable);
            return;
        }
        if (variable.space() == StateSpace.SHARED) {
            shared.putIfAbsent(variable.name(), variable);
        } else if (variable.space() == StateSpace.GLOBAL || variable.space() == StateSpace.CONST) {
            ModuleVariable lowered = InitialValue.lower(variable);
            ModuleVariable before = variables.get(variable.name());
            if (before == null || before.external()) {
                variables.put(variable.name(), lowered);
            }
        } else {
            throw new UnsupportedPtxException("", "module variable in ." + variable.space().ptx(), variable.line());
        }
    }

    /** A place without content, whose address is what kernels know it by. */
    private void reference(io.tessera.guardian.ptx.Variable variable) {
        ReferenceKind kind = switch (variable.type()) {
            case TEXREF -> ReferenceKind.TEXTURE;
            case SURFREF -> ReferenceKind.SURFACE;
            default -> null; // refused where a kernel uses it: others of the module run
        };
        if (kind != null && variable.space() == StateSpace.GLOBAL) {
            variables.putIfAbsent(variable.name(), new ModuleVariable(variable.name(),
                    io.tessera.software.program.AddressSpace.GLOBAL, Long.BYTES, Long.BYTES, false, new byte[Long.BYTES], List.of()));
            references.put(variable.name(), kind);
        }
    }

    /**
     * Makes a program from PTX text.
     *
     * @throws PtxException if it is not PTX
     * @throws UnsupportedPtxException as {@link #of}
     */
    public static PtxProgram parse(String ptx) throws PtxException {
        return of(PtxParser.parse(ptx));
    }

    /**
     * Makes a program.
     *
     * @throws UnsupportedPtxException if a variable is of a kind that the software GPU lacks
     */
    public static PtxProgram of(PtxModule module) {
        return new PtxProgram(module);
    }

    @Override
    public Map<String, ModuleVariable> variables() {
        return Collections.unmodifiableMap(variables);
    }

    @Override
    public Map<String, ReferenceKind> references() {
        return Collections.unmodifiableMap(references);
    }

    @Override
    public Set<String> kernelNames() {
        return Collections.unmodifiableSet(entries.keySet());
    }

    @Override
    public Set<String> functionNames() {
        return Collections.unmodifiableSet(functions.keySet());
    }

    @Override
    public Kernel kernel(String name) {
        PtxFunction entry = entries.get(name);
        if (entry == null) {
            throw new NoSuchElementException("the module has no kernel " + name);
        }
        return kernels.computeIfAbsent(name, wanted -> new KernelLowering(this, entry).lower());
    }

    @Override
    public PtxFunction function(String name) {
        return functions.get(aliases.getOrDefault(name, name));
    }

    @Override
    public io.tessera.guardian.ptx.Variable sharedVariable(String name) {
        return shared.get(name);
    }

    @Override
    public List<PtxFunction> bodies() {
        List<PtxFunction> bodies = new ArrayList<>(entries.values());
        bodies.addAll(functions.values());
        return bodies;
    }
}
