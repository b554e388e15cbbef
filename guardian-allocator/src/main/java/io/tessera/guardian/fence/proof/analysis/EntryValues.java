package io.tessera.guardian.fence.proof.analysis;

import io.tessera.guardian.fence.proof.graph.LoopForest;
import io.tessera.guardian.fence.proof.graph.Ssa;
import io.tessera.guardian.fence.proof.graph.SsaKind;
import io.tessera.guardian.fence.proof.value.AbstractValue;
import io.tessera.guardian.fence.proof.value.IntegerTransfer;
import io.tessera.guardian.fence.proof.value.IntervalArithmetic;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Values of a loop's head when the loop is entered. Compilers compute {@code n - (n & 3)} far above the loop that counts it down, and check just
 * before the loop whether {@code n} is at least 4. This class applies the fact from that comparison to the computed value. Not thread-safe.
 */
public final class EntryValues {
    private static final int LONGEST_CHAIN = 4;

    private final FunctionAnalysis of;
    private final Ssa ssa;
    private final Transfer transfer;
    private Map<Integer, List<Known>> refined;

    /** A fact from a comparison: a value plus an amount is within the state of a refined value. */
    private record Known(int refined, long amount) {
    }

    /** Creates the entry values of an analysed function. */
    public EntryValues(FunctionAnalysis of) {
        this.of = of;
        ssa = of.ssa();
        transfer = of.transfer();
    }

    /** The value of a phi at a loop's head when the loop is entered. */
    public AbstractValue of(int phi, LoopForest.Loop loop) {
        AbstractValue all = null;
        int[] predecessors = of.flow().predecessors(loop.head());
        for (int p = 0; p < predecessors.length; p++) {
            int input = ssa.inputs(phi)[p];
            if (!loop.contains(predecessors[p]) && input != Ssa.NONE) {
                AbstractValue one = at(input, predecessors[p]);
                all = all == null ? one : all.join(one);
            }
        }
        return all == null ? AbstractValue.TOP : all;
    }

    /** Returns the state of a value at the end of a block that it reaches. */
    private AbstractValue at(int input, int block) {
        AbstractValue state = of.states()[input];
        int value = copied(ssa.origin(input));
        int index = ssa.kind(value) == SsaKind.RESULT ? ssa.instruction(value) : -1;
        Instruction difference = index < 0 || of.code().onlyResult(index) != ssa.register(value) ? null : of.code().instruction(index);
        boolean plain = difference != null && difference.opcode().equals("sub") && difference.modifiers().size() == 1
                && difference.guard().isEmpty() && difference.type().filter(IntegerTransfer::isInteger).isPresent() && !ssa.isUnstable(value);
        long mask = plain ? transfer.lowBitsOf(index, difference.operands().get(1), difference.operands().get(2)) : 0;
        if (mask <= 0 || !(difference.operands().get(1) instanceof Operand.Register whole)) {
            return state;
        }
        for (Known known : refinements().getOrDefault(ssa.origin(ssa.use(index, whole.name())), List.of())) {
            // It stands above the block, so it was of the same n.
            if (of.dominators().dominates(ssa.block(known.refined()), block)) {
                AbstractValue n = IntervalArithmetic.subtract(of.states()[known.refined()], AbstractValue.constant(known.amount()));
                state = narrower(IntervalArithmetic.and(n, AbstractValue.constant(~mask), ssa.bits(value)), state);
            }
        }
        return state;
    }

    private static AbstractValue narrower(AbstractValue a, AbstractValue b) {
        return a.bounded() && a.variable() == null && (!b.bounded() || a.high() - a.low() < b.high() - b.low()) ? a : b;
    }

    /** The value, passing over copies. */
    private int copied(int value) {
        int at = value;
        for (int i = 0; i < LONGEST_CHAIN && ssa.kind(at) == SsaKind.RESULT; i++) {
            int index = ssa.instruction(at);
            Instruction made = of.code().instruction(index);
            boolean copies = made.opcode().equals("mov") && made.guard().isEmpty() && of.code().onlyResult(index) == ssa.register(at)
                    && made.operands().get(1) instanceof Operand.Register;
            int from = copies ? ssa.use(index, ((Operand.Register) made.operands().get(1)).name()) : Ssa.NONE;
            if (from == Ssa.NONE || ssa.bits(from) != ssa.bits(at)) {
                return at;
            }
            at = ssa.origin(from);
        }
        return at;
    }

    /** Returns the facts from comparisons, keyed by the compared value, or by the value to which a constant was added before the comparison. */
    private Map<Integer, List<Known>> refinements() {
        if (refined == null) {
            refined = new HashMap<>();
            for (int v = 0; v < ssa.values(); v++) {
                if (ssa.kind(v) == SsaKind.REFINED && !ssa.isUnstable(v)) {
                    refined.computeIfAbsent(ssa.origin(v), origin -> new ArrayList<>()).add(new Known(v, 0));
                    ofSummand(v);
                }
            }
        }
        return refined;
    }

    private void ofSummand(int v) {
        int sum = ssa.origin(v);
        int index = ssa.kind(sum) == SsaKind.RESULT ? ssa.instruction(sum) : -1;
        Instruction add = index < 0 || of.code().onlyResult(index) != ssa.register(sum) ? null : of.code().instruction(index);
        boolean adds = add != null && add.opcode().equals("add") && add.modifiers().size() == 1 && add.guard().isEmpty()
                && add.type().filter(IntegerTransfer::isInteger).isPresent();
        if (adds && add.operands().get(1) instanceof Operand.Register summand
                && add.operands().get(2) instanceof Operand.Immediate(long amount, boolean unsigned) && amount == (int) amount) {
            int value = ssa.use(index, summand.name());
            if (value != Ssa.NONE && ssa.bits(value) == ssa.bits(sum)) {
                refined.computeIfAbsent(ssa.origin(value), origin -> new ArrayList<>()).add(new Known(v, amount));
            }
        }
    }
}
