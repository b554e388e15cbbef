package io.tessera.guardian.fence.proof.graph;

import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.PtxFunction;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The part of a function's analysis that does not depend on launches: computed once, and analysed as often as there are launches to look
 * at. Not thread-safe.
 */
public final class FunctionGraph {
    /** Longer functions are not analysed: a bound on time and memory against made-up inputs. */
    private static final int MOST_INSTRUCTIONS = 400_000;
    private static final int POINTER_BITS = 64;

    /**
     * An access through a register whose instruction is understood well enough to use a shadow.
     *
     * @param index   of the instruction
     * @param operand the address
     * @param base    value of its register, of 64 bits
     */
    public record Access(int index, int operand, int base) {
    }

    private static final int CLUSTERS_FROM = 90;

    private final PtxFunction function;
    private final boolean countsClusters;
    private final FlatCode code;
    private final ControlFlow flow;
    private final Dominators dominators;
    private final LoopForest loops;
    private final Ssa ssa;
    private final PropagationOrder order;
    private final List<Access> accesses = new ArrayList<>();

    private FunctionGraph(PtxFunction function, FlatCode code, boolean countsClusters) {
        this.function = function;
        this.countsClusters = countsClusters;
        this.code = code;
        flow = ControlFlow.of(code);
        Work work = new Work(code.size());
        dominators = Dominators.of(flow, work);
        loops = LoopForest.of(flow, dominators, work);
        ssa = Ssa.of(code, flow, dominators, work);
        order = new PropagationOrder(code, flow, ssa);
        for (int index = 0; index < code.size(); index++) {
            if (MemoryAccess.isPlain(code.instruction(index))) {
                collect(index, code.instruction(index));
            }
        }
    }

    /** Empty for code that is not understood, too long, or written so that its graph takes too many steps. */
    public static Optional<FunctionGraph> of(PtxFunction function, AnalysedModule module) {
        FlatCode code = FlatCode.of(function, module);
        if (!code.complete() || code.size() > MOST_INSTRUCTIONS) {
            return Optional.empty();
        }
        try {
            return Optional.of(new FunctionGraph(function, code, countsClusters(function, module)));
        } catch (Work.SpentException e) {
            return Optional.empty();
        }
    }

    /** A device function of a GPU that has clusters can be called by a kernel whose grids count them. */
    private static boolean countsClusters(PtxFunction function, AnalysedModule module) {
        if (function.kind() == PtxFunction.Kind.ENTRY) {
            return function.attribute("blocksareclusters").isPresent();
        }
        String digits = module.targets().getFirst().replaceAll("[^0-9]", "");
        return digits.isEmpty() || digits.length() > 3 || Integer.parseInt(digits) >= CLUSTERS_FROM;
    }

    /** Returns whether the grid may have more blocks than a launch says, by a factor of the size of its clusters. */
    public boolean countsClusters() {
        return countsClusters;
    }

    private void collect(int index, Instruction access) {
        for (int operand = 0; operand < access.operands().size(); operand++) {
            if (access.operands().get(operand) instanceof Operand.Address(Operand.Register base, long _)) {
                int value = ssa.use(index, base.name());
                if (value != Ssa.NONE && ssa.bits(value) == POINTER_BITS) {
                    accesses.add(new Access(index, operand, value));
                }
            }
        }
    }

    /** The function as it was read. */
    public PtxFunction function() {
        return function;
    }

    /** Its instructions. */
    public FlatCode code() {
        return code;
    }

    /** Its blocks. */
    public ControlFlow flow() {
        return flow;
    }

    /** Returns the dominance relation of its blocks. */
    public Dominators dominators() {
        return dominators;
    }

    /** Its natural loops. */
    public LoopForest loops() {
        return loops;
    }

    /** Its values. */
    public Ssa ssa() {
        return ssa;
    }

    /** Returns the order in which values are computed. */
    public PropagationOrder order() {
        return order;
    }

    /** Returns the accesses in the order of the text. */
    public List<Access> accesses() {
        return accesses;
    }
}
