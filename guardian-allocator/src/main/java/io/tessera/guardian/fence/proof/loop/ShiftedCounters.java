package io.tessera.guardian.fence.proof.loop;

import io.tessera.guardian.fence.proof.analysis.EntryValues;
import io.tessera.guardian.fence.proof.analysis.FunctionAnalysis;
import io.tessera.guardian.fence.proof.graph.FlatCode;
import io.tessera.guardian.fence.proof.graph.LoopForest;
import io.tessera.guardian.fence.proof.graph.Ssa;
import io.tessera.guardian.fence.proof.graph.SsaKind;
import io.tessera.guardian.fence.proof.value.AbstractValue;
import io.tessera.guardian.fence.proof.value.Refinement;
import io.tessera.guardian.fence.proof.value.TripCount;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;

/**
 * Iteration bounds of loops whose counter is shifted by a constant each time: right, until it is at most a number, or left, until it is at least a
 * number. Not thread-safe.
 */
final class ShiftedCounters {
    /**
     * A shift by a constant.
     *
     * @param from   the value that is shifted
     * @param left   to the left; else to the right
     * @param by     by how many bits, at least 1
     * @param signed whether the sign is kept
     */
    private record Shift(int from, boolean left, int by, boolean signed) {
    }

    private final FunctionAnalysis of;
    private final FlatCode code;
    private final Ssa ssa;

    ShiftedCounters(FunctionAnalysis of) {
        this.of = of;
        code = of.code();
        ssa = of.ssa();
    }

    /**
     * Returns how often control can go back to a loop's head, or {@link TripCount#UNBOUNDED}.
     *
     * @param comparison the {@code setp} that every iteration executes
     * @param value      the compared value, which is the value at the head or its shifted value
     * @param relation   relation of the value to the other side while the loop continues
     * @param otherSide  the other side's operand
     */
    long rounds(int comparison, int value, String relation, int otherSide, LoopForest.Loop loop) {
        int origin = ssa.origin(value);
        Shift last = shift(origin);
        int phi = isHead(origin, loop) ? origin : last == null ? Ssa.NONE : last.from();
        if (phi == Ssa.NONE || !isHead(phi, loop) || ssa.isUnstable(phi) || ssa.isUnstable(value)) {
            return TripCount.UNBOUNDED;
        }
        Shift shift = round(phi, loop, origin == phi ? Ssa.NONE : origin);
        if (shift == null) {
            return TripCount.UNBOUNDED;
        }
        return shift.left() ? doublings(comparison, origin == phi, phi, shift, relation, otherSide, loop)
                : halvings(comparison, shift, relation, otherSide, ssa.bits(value));
    }

    private boolean isHead(int value, LoopForest.Loop loop) {
        return ssa.kind(value) == SsaKind.PHI && ssa.block(value) == loop.head();
    }

    /** Returns the shift of the head's value on every iteration, if all paths agree; {@code only} is the required result, unless NONE. */
    private Shift round(int phi, LoopForest.Loop loop, int only) {
        Shift all = null;
        int[] predecessors = of.flow().predecessors(loop.head());
        for (int p = 0; p < predecessors.length; p++) {
            int input = ssa.inputs(phi)[p];
            if (loop.contains(predecessors[p]) && input != Ssa.NONE) {
                Shift one = shift(ssa.origin(input));
                boolean same = one != null && one.from() == phi && (all == null || all.equals(one))
                        && (only == Ssa.NONE || ssa.origin(input) == only);
                if (!same) {
                    return null;
                }
                all = one;
            }
        }
        return all;
    }

    /** After as many shifts to the right as there are bits it is 0, or -1, which is greater than none as a signed number. */
    private long halvings(int comparison, Shift shift, String relation, int otherSide, int bits) {
        Instruction setp = code.instruction(comparison);
        boolean falls = relation.equals("gt") && setp.operands().get(otherSide) instanceof Operand.Immediate(long limit, boolean unsigned)
                && limit >= 0 && limit == (int) limit;
        return falls && (Refinement.isSigned(setp) || !shift.signed()) ? bits : TripCount.UNBOUNDED;
    }

    /**
     * A counter of at least 1 that is shifted left loses no bit as long as what it is compared with is small enough: each time it is
     * twice as large, at least.
     */
    private long doublings(int comparison, boolean comparedFirst, int phi, Shift shift, String relation, int otherSide,
            LoopForest.Loop loop) {
        Instruction setp = code.instruction(comparison);
        int bits = ssa.bits(phi);
        boolean signed = Refinement.isSigned(setp);
        boolean ordered = relation.equals("lt") || relation.equals("le");
        AbstractValue other = of.transfer()
                .operand(comparison, setp.operands().get(otherSide), bits);
        AbstractValue limit = signed ? other.signed(bits) : other.unsigned(bits);
        AbstractValue entry = new EntryValues(of).of(phi, loop);
        AbstractValue first = signed ? entry.signed(bits) : entry.unsigned(bits);
        if (!ordered || bits > Integer.SIZE || !limit.bounded() || !first.bounded() || first.low() < 1) {
            return TripCount.UNBOUNDED;
        }
        long most = (1L << (signed ? bits - 1 : bits)) - 1 >> shift.by();
        long goesOn = relation.equals("lt") ? limit.high() - 1 : limit.high();
        return goesOn <= most && (comparedFirst || first.high() <= most) ? bits : TripCount.UNBOUNDED;
    }

    /** The shift by a constant that makes a value, or null. */
    private Shift shift(int value) {
        if (ssa.kind(value) != SsaKind.RESULT) {
            return null;
        }
        int index = ssa.instruction(value);
        Instruction made = code.instruction(index);
        if (made.opcode().equals("mov") && made.operands().get(1) instanceof Operand.Register copied
                && ssa.use(index, copied.name()) != Ssa.NONE
                && ssa.instruction(ssa.origin(ssa.use(index, copied.name()))) < index) {
            return shift(ssa.origin(ssa.use(index, copied.name())));
        }
        boolean left = made.opcode().equals("shl");
        boolean shifts = (left || made.opcode().equals("shr")) && made.operands().get(1) instanceof Operand.Register
                && made.operands().get(2) instanceof Operand.Immediate && code.onlyResult(index) == ssa.register(value);
        long by = shifts ? ((Operand.Immediate) made.operands().get(2)).value() : 0;
        int from = by < 1 || by >= ssa.bits(value) ? Ssa.NONE
                : ssa.use(index, ((Operand.Register) made.operands().get(1)).name());
        return from == Ssa.NONE || ssa.bits(from) != ssa.bits(value) ? null
                : new Shift(ssa.origin(from), left, (int) by, made.modifiers().getFirst().startsWith("s"));
    }
}
