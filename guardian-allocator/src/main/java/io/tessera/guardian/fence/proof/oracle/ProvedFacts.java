package io.tessera.guardian.fence.proof.oracle;

import io.tessera.guardian.fence.WindowConstants;
import io.tessera.guardian.fence.proof.AddressFact;
import io.tessera.guardian.fence.proof.AddressFacts;
import io.tessera.guardian.fence.proof.BaseFence;
import io.tessera.guardian.fence.proof.CarriedPointer;
import io.tessera.guardian.fence.proof.Derivation;
import io.tessera.guardian.fence.proof.LoopCut;
import io.tessera.guardian.fence.proof.Placement;
import io.tessera.guardian.fence.proof.analysis.FunctionAnalysis;
import io.tessera.guardian.fence.proof.analysis.Provenance;
import io.tessera.guardian.fence.proof.graph.FunctionGraph;
import io.tessera.guardian.fence.proof.graph.MemoryAccess;
import io.tessera.guardian.fence.proof.graph.Ssa;
import io.tessera.guardian.fence.proof.loop.CountedLoops;
import io.tessera.guardian.fence.proof.loop.Induction;
import io.tessera.guardian.fence.proof.value.AbstractValue;
import io.tessera.guardian.fence.proof.value.Offsets;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.ptx.Variable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.function.ToLongFunction;

/**
 * The facts about one function that was analysed. Those that need no shadows and no ends of loops are available at once; for the others
 * everything is decided when the first of them is asked for. Not thread-safe.
 */
final class ProvedFacts implements AddressFacts {
    private static final int MOST_ATTEMPTS = 12;

    private final FunctionAnalysis plain;
    private final FunctionAnalysis of;
    private Provenance provenance;
    private final Induction induction;
    private ShadowPlan plan;
    private ShadowAlignment alignment;
    private CountedLoops counted;
    private CountedLoops soon;
    private ToLongFunction<Instruction> parts = branch -> 0;
    private final BitSet[] shadowed;
    private final List<BaseFence> fences = new ArrayList<>();
    private final List<Derivation> derivations = new ArrayList<>();
    private final List<CarriedPointer> carried = new ArrayList<>();

    /**
     * Creates the facts of a function.
     *
     * @param plain analysis without iteration bounds; loops are counted by it, as verifiers do
     * @param of    analysis with iteration bounds
     */
    ProvedFacts(FunctionAnalysis plain, FunctionAnalysis of) {
        this.plain = plain;
        this.of = of;
        induction = new Induction(plain);
        shadowed = new BitSet[of.code().size()];
    }

    private void count() {
        if (counted == null) {
            counted = CountedLoops.of(plain, induction, CountedLoops.MOST_ROUNDS, CountedLoops.MOST_NESTED_ROUNDS);
            soon = CountedLoops.of(plain, induction, CountedLoops.SOON, CountedLoops.SOON);
        }
    }

    private void decide() {
        if (plan == null) {
            count();
            plan = new ShadowPlan(of, induction, parts);
            alignment = new ShadowAlignment(plan, of.ssa().values());
            choose();
        }
    }

    @Override
    public void divide(ToLongFunction<Instruction> rounds) {
        parts = rounds;
    }

    /** Plans shadows for all global accesses until no decision rests on one that was taken back. */
    private void choose() {
        for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
            plan.reset();
            boolean again = false;
            Arrays.fill(shadowed, null);
            for (FunctionGraph.Access access : of.graph().accesses()) {
                if (isCandidate(access)) {
                    again |= !tryShadow(access);
                }
            }
            if (!again && !plan.isStale()) {
                collect();
                return;
            }
        }
        Arrays.fill(shadowed, null);
    }

    /** Returns whether an access could use a shadow. */
    private boolean isCandidate(FunctionGraph.Access access) {
        return nearSymbol(access.index(), access.operand(), access.base()) == null
                && space(access.index(), access.operand(), access.base()).orElse(null) == StateSpace.GLOBAL;
    }

    /** False if something was learnt that changes the plan. */
    private boolean tryShadow(FunctionGraph.Access at) {
        int index = at.index();
        int value = at.base();
        Instruction access = of.code().instruction(index);
        Offsets offsets = plan.of(value);
        if (offsets == null) {
            return true;
        }
        long offset = ((Operand.Address) access.operands().get(at.operand())).offsetBytes();
        boolean floats = offsets.equals(Offsets.ANYWHERE);
        Offsets away = floats ? Offsets.INSIDE : offsets;
        if (away.plus(AbstractValue.between(offset, offset)).fit(WindowConstants.GUARD_BYTES,
                MemoryAccess.mostBytes(access))) {
            shadowed[index] = shadowed[index] == null ? new BitSet() : shadowed[index];
            shadowed[index].set(at.operand());
            return true;
        }
        return floats || !plan.fenceAt(plan.owner(value));
    }

    private void collect() {
        for (int index = 0; index < shadowed.length; index++) {
            for (int operand = 0; shadowed[index] != null && operand < shadowed[index].length(); operand++) {
                if (shadowed[index].get(operand)) {
                    Instruction access = of.code().instruction(index);
                    Operand.Address address = (Operand.Address) access.operands().get(operand);
                    alignment.demand(plan.owner(base(index, address)), MemoryAccess.alignmentBytes(access), address.offsetBytes());
                }
            }
        }
        alignment.settle();
        BitSet needed = alignment.needed();
        for (int v = needed.nextSetBit(0); v >= 0; v = needed.nextSetBit(v + 1)) {
            switch (plan.way(v)) {
                case FENCE -> fences.add(new BaseFence(plan.instruction(v), plan.register(v), alignment.fenceAlignment(v),
                        trusted(v, alignment.fenceAlignment(v)), false));
                case DERIVE -> derivations.add(new Derivation(plan.instruction(v), plan.sums().of(v).operand()));
                case REFENCE -> {
                    derivations.add(new Derivation(plan.instruction(v), plan.sums().of(v).operand()));
                    fences.add(new BaseFence(plan.instruction(v), plan.register(v), 1, false, true));
                }
                default -> {
                    // Made where its inputs are made.
                }
            }
            Instruction branch = plan.carriedBy(v);
            if (branch != null) {
                carried.add(new CarriedPointer(branch, plan.register(v)));
            }
        }
    }

    private int base(int index, Operand.Address address) {
        return of.ssa().use(index, ((Operand.Register) address.base()).name());
    }

    /** Returns whether a value is the address of a variable in the window, which lies inside and is aligned as declared. */
    private boolean trusted(int value, int wanted) {
        AbstractValue state = of.states()[value];
        Variable variable = state.variable();
        return variable != null && variable.space() == StateSpace.GLOBAL && state.bounded() && state.low() >= 0
                && state.high() < variable.sizeBytes() && variable.alignment() >= wanted
                && ShadowAlignment.multiple(state) >= wanted;
    }

    private boolean isGlobal(int value) {
        if (provenance == null) {
            provenance = new Provenance(of.graph());
        }
        return provenance.isGlobal(value);
    }

    private Optional<StateSpace> space(int index, int operand, int value) {
        Instruction access = of.code().instruction(index);
        Optional<StateSpace> said = MemoryAccess.space(access, operand);
        if (said.isPresent() || !MemoryAccess.isPlain(access)) {
            return said;
        }
        AbstractValue state = of.states()[value];
        if (state.variable() != null && (state.generic() || state.variable().space() == StateSpace.GLOBAL)) {
            return Optional.of(state.variable().space());
        }
        return isGlobal(value) ? Optional.of(StateSpace.GLOBAL) : Optional.empty();
    }

    /** Returns the position of an address relative to a variable, or null. */
    private Placement.NearSymbol nearSymbol(int index, int operand, int value) {
        Instruction access = of.code().instruction(index);
        long offset = ((Operand.Address) access.operands().get(operand)).offsetBytes();
        AbstractValue state = of.states()[value];
        Variable variable = state.variable();
        if (variable == null) {
            return null;
        }
        Optional<StateSpace> said = MemoryAccess.space(access, operand);
        boolean global = variable.space() == StateSpace.GLOBAL;
        boolean same = said.isPresent() ? said.get() == variable.space() && (global || !state.generic())
                : MemoryAccess.isPlain(access) && (global || state.generic());
        // On-chip addresses are short: a base before the variable may have wrapped.
        boolean near = state.bounded() && (global ? Math.max(-state.low(), state.high()) < WindowConstants.GUARD_BYTES
                : state.low() >= 0 && state.high() < 1 << 24);
        if (!same || global && !near) {
            return null;
        }
        return near ? new Placement.NearSymbol(variable.name(), state.low() + offset, state.high() + offset)
                : new Placement.NearSymbol(variable.name(), Placement.UNBOUNDED_LOW, Placement.UNBOUNDED_HIGH);
    }

    @Override
    public AddressFact of(Instruction access, int operand) {
        int index = of.code().indexOf(access);
        Operand at = access.operands().get(operand);
        if (index < 0 || !(at instanceof Operand.Address address)) {
            return new AddressFact(MemoryAccess.space(access, operand), 1, new Placement.Unknown());
        }
        if (address.base() instanceof Operand.Named(String name)) {
            Variable variable = of.code().variable(name);
            int aligned = variable == null ? 1
                    : Math.min(variable.alignment(), ShadowAlignment.divisor(address.offsetBytes()));
            return new AddressFact(MemoryAccess.space(access, operand), Math.max(1, aligned),
                    new Placement.NearSymbol(name, address.offsetBytes(), address.offsetBytes()));
        }
        int value = address.base() instanceof Operand.Register ? base(index, address) : Ssa.NONE;
        return value == Ssa.NONE ? new AddressFact(MemoryAccess.space(access, operand), 1, new Placement.Unknown())
                : fact(index, operand, address.offsetBytes(), value);
    }

    private AddressFact fact(int index, int operand, long offset, int value) {
        Optional<StateSpace> space = space(index, operand, value);
        AbstractValue state = of.states()[value];
        int known = Math.min(ShadowAlignment.multiple(state), ShadowAlignment.divisor(offset));
        Placement.NearSymbol near = nearSymbol(index, operand, value);
        if (near != null) {
            return new AddressFact(space, Math.min(known, state.variable().alignment()), near);
        }
        decide();
        if (shadowed[index] != null && shadowed[index].get(operand)) {
            boolean floats = Offsets.ANYWHERE.equals(plan.of(value));
            return new AddressFact(space, alignment.alignment(plan.owner(value), offset),
                    floats ? new Placement.FloatingBase() : new Placement.FencedBase());
        }
        return new AddressFact(space, state.variable() == null ? known : 1, new Placement.Unknown());
    }

    @Override
    public List<BaseFence> baseFences() {
        decide();
        return List.copyOf(fences);
    }

    @Override
    public List<Derivation> derivations() {
        decide();
        return List.copyOf(derivations);
    }

    @Override
    public List<CarriedPointer> carried() {
        decide();
        return List.copyOf(carried);
    }

    @Override
    public boolean endsByItself(Instruction branch) {
        count();
        return counted.endsByItself(branch);
    }

    @Override
    public long endsSoon(Instruction branch) {
        count();
        return soon.rounds(branch);
    }

    @Override
    public List<LoopCut> loopCuts() {
        count();
        return induction.cuts();
    }
}
