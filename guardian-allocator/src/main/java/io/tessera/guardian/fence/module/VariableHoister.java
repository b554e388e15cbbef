package io.tessera.guardian.fence.module;

import io.tessera.guardian.fence.ConstantPatch;
import io.tessera.guardian.fence.FenceRefusedException;
import io.tessera.guardian.fence.HoistedVariable;
import io.tessera.guardian.fence.HoistedVariable.Relocation;
import io.tessera.guardian.fence.plan.ModulePlan;
import io.tessera.guardian.fence.variable.InitialBytes;
import io.tessera.guardian.fence.variable.ModuleSymbols;
import io.tessera.guardian.ptx.Initializer;
import io.tessera.guardian.ptx.Linkage;
import io.tessera.guardian.ptx.ScalarType;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.ptx.Variable;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Takes a module's variables out of it, and leaves constants that hold their addresses. Used once. */
final class VariableHoister {
    private final ModulePlan plan;
    private final ModuleSymbols symbols;
    private final boolean linked;
    private final List<HoistedVariable> hoisted = new ArrayList<>();
    private final List<ConstantPatch> patches = new ArrayList<>();

    VariableHoister(ModulePlan plan) {
        this.plan = plan;
        this.symbols = plan.symbols();
        this.linked = plan.linked();
    }

    /** Returns the variables that moved. */
    List<HoistedVariable> hoisted() {
        return hoisted;
    }

    /** Returns the constants to be patched. */
    List<ConstantPatch> patches() {
        return patches;
    }

    /** Returns the replacement of a module's variable in the fenced module. */
    Variable replace(Variable variable) throws FenceRefusedException {
        if (symbols.hoists(variable)) {
            return hoist(variable);
        }
        return variable.space() == StateSpace.CONST && variable.initializer().isPresent() ? patched(variable) : variable;
    }

    private Variable hoist(Variable variable) throws FenceRefusedException {
        InitialBytes initial = new InitialBytes(variable, symbols);
        initial.fill();
        String constant = plan.addressConstant(variable.name());
        int alignment = Math.max(1, variable.alignment());
        if (Integer.bitCount(alignment) != 1) {
            throw new FenceRefusedException(variable.name(), variable.line(), "alignment is no power of two");
        }
        hoisted.add(new HoistedVariable(variable.name(), constant, variable.linkage(),
                variable.attributes().contains("managed"), variable.space() == StateSpace.CONST,
                Math.max(1, variable.sizeBytes()), alignment, initial.bytes(), initial.relocations()));
        return new Variable(constantLinkage(variable.linkage()), StateSpace.CONST, 0, ScalarType.B64, 1, constant,
                List.of(), Optional.empty(), Optional.empty(), List.of(), 0);
    }

    /** The loader looks the constant up by name, so it is visible even where the variable was not. */
    private Linkage constantLinkage(Linkage linkage) {
        return switch (linkage) {
            case INTERNAL -> linked ? Linkage.INTERNAL : Linkage.VISIBLE;
            case COMMON -> Linkage.WEAK;
            default -> linkage;
        };
    }

    /** A constant that stays: addresses in it become zeros to be patched, or numbers of functions. */
    private Variable patched(Variable variable) throws FenceRefusedException {
        if (!hasAddress(variable.initializer().get())) {
            return variable;
        }
        InitialBytes initial = new InitialBytes(variable, symbols);
        initial.fill();
        for (Relocation relocation : initial.relocations()) {
            patches.add(new ConstantPatch(variable.name(), relocation));
        }
        return new Variable(variable.linkage(), variable.space(), variable.alignmentBytes(), variable.type(),
                variable.vectorLength(), variable.name(), variable.dimensions(),
                Optional.of(withoutAddresses(variable.initializer().get())), variable.pointer(), variable.attributes(),
                variable.line());
    }

    private static boolean hasAddress(Initializer initializer) {
        return switch (initializer) {
            case Initializer.AddressOf _ -> true;
            case Initializer.Aggregate(List<Initializer> elements) ->
                elements.stream().anyMatch(VariableHoister::hasAddress);
            default -> false;
        };
    }

    private Initializer withoutAddresses(Initializer initializer) throws FenceRefusedException {
        if (initializer instanceof Initializer.Aggregate(List<Initializer> elements)) {
            List<Initializer> rewritten = new ArrayList<>(elements.size());
            for (Initializer element : elements) {
                rewritten.add(withoutAddresses(element));
            }
            return new Initializer.Aggregate(rewritten);
        }
        if (!(initializer instanceof Initializer.AddressOf address)) {
            return initializer;
        }
        Long token = symbols.token(address.symbol());
        int shift = address.mask() == 0 ? 0 : Long.numberOfTrailingZeros(address.mask());
        long value = token == null ? 0 : token + address.offsetBytes() >>> shift;
        return new Initializer.Integer(address.mask() == 0 ? value : value & 0xFF);
    }
}
