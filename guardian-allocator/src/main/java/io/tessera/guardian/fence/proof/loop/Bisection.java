package io.tessera.guardian.fence.proof.loop;

import io.tessera.guardian.fence.proof.analysis.FunctionAnalysis;
import io.tessera.guardian.fence.proof.graph.Condition;
import io.tessera.guardian.fence.proof.graph.FlatCode;
import io.tessera.guardian.fence.proof.graph.LoopForest;
import io.tessera.guardian.fence.proof.graph.Ssa;
import io.tessera.guardian.fence.proof.graph.SsaKind;
import io.tessera.guardian.fence.proof.value.AbstractValue;
import io.tessera.guardian.fence.proof.value.IntegerTransfer;
import io.tessera.guardian.fence.proof.value.Refinement;
import io.tessera.guardian.fence.proof.value.TripCount;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;

/**
 * Iteration bounds of loops that halve a range: {@code m = (low + high) / 2}, then either {@code low = m + 1} or {@code high = m} ({@code m - 1} if
 * ranges of one number are searched too), as long as the range is not empty. Bounds are not negative and their sum does not overflow its register.
 * From an empty range, either path leads to an empty range, which ends the loop. From any other range, where {@code low <= m < high}, each path leads
 * to a range that is at most half as large. Not thread-safe.
 */
final class Bisection {
    private static final int LONGEST_CHAIN = 8;
    /** Sums of bounds of 64 bits: far below the end of the range, as all bounds that are known. */
    private static final long MOST_LONG = 1L << 61;

    private final FunctionAnalysis of;
    private final FlatCode code;
    private final Ssa ssa;

    Bisection(FunctionAnalysis of) {
        this.of = of;
        code = of.code();
        ssa = of.ssa();
    }

    /** The new range after an iteration, on one path. */
    private record Arm(int low, int high) {
    }

    /** The range at the loop's head. */
    private record Range(int low, int high) {
    }

    /** Returns how often control can go back to a loop's head while a condition holds in every iteration, or {@link TripCount#UNBOUNDED}. */
    long rounds(Condition condition, LoopForest.Loop loop) {
        int index = condition.comparison();
        Instruction setp = code.instruction(index);
        String relation = Refinement.relation(setp, condition.holds(), false);
        boolean exchanged = relation.equals("gt") || relation.equals("ge");
        if (exchanged) {
            relation = relation.equals("gt") ? "lt" : "le";
        }
        int low = operand(index, exchanged ? 2 : 1);
        int high = operand(index, exchanged ? 1 : 2);
        boolean closed = relation.equals("le");
        boolean possible = (closed && Refinement.isSigned(setp) || relation.equals("lt")) && low != Ssa.NONE && high != Ssa.NONE
                && ssa.bits(low) == ssa.bits(high) && ssa.bits(low) >= Integer.SIZE
                && setp.type().filter(type -> IntegerTransfer.isInteger(type) && type.bits() == ssa.bits(low)).isPresent()
                && !ssa.isUnstable(low) && !ssa.isUnstable(high);
        Arm[] arms = possible ? arms(low, high, loop) : null;
        Range range = arms == null ? null : range(arms, loop);
        boolean halves = range != null && comesRound(range.low(), low, loop) && comesRound(range.high(), high, loop) && small(range);
        for (int i = 0; halves && i < arms.length; i++) {
            halves = halves(arms[i], range, closed);
        }
        return halves ? ssa.bits(low) + 2 : TripCount.UNBOUNDED;
    }

    private int operand(int index, int operand) {
        return code.instruction(index).operands().get(operand) instanceof Operand.Register register
                && ssa.use(index, register.name()) != Ssa.NONE ? ssa.origin(ssa.use(index, register.name())) : Ssa.NONE;
    }

    /** Both bounds, by two selections with one predicate, or where ways meet. */
    private Arm[] arms(int low, int high, LoopForest.Loop loop) {
        if (ssa.kind(low) == SsaKind.PHI && ssa.kind(high) == SsaKind.PHI) {
            boolean meet = ssa.block(low) == ssa.block(high) && ssa.block(low) != loop.head() && loop.contains(ssa.block(low))
                    && ssa.inputs(low).length == 2;
            return !meet ? null : new Arm[] {arm(low, high, 0), arm(low, high, 1)};
        }
        int first = selection(low);
        int second = selection(high);
        boolean one = first >= 0 && second >= 0 && operand(first, 3) != Ssa.NONE && operand(first, 3) == operand(second, 3)
                && loop.contains(ssa.block(low)) && loop.contains(ssa.block(high));
        return !one ? null : new Arm[] {new Arm(operand(first, 1), operand(second, 1)),
                new Arm(operand(first, 2), operand(second, 2))};
    }

    private Arm arm(int low, int high, int way) {
        int a = ssa.inputs(low)[way];
        int b = ssa.inputs(high)[way];
        return new Arm(a == Ssa.NONE ? a : ssa.origin(a), b == Ssa.NONE ? b : ssa.origin(b));
    }

    private int selection(int value) {
        int index = definition(value);
        return index >= 0 && code.instruction(index).opcode().equals("selp") ? index : -1;
    }

    /** The only instruction that makes a value, without a guard and with no other result; -1 if there is none. */
    private int definition(int value) {
        int index = value == Ssa.NONE || ssa.kind(value) != SsaKind.RESULT ? -1 : ssa.instruction(value);
        return index >= 0 && code.onlyResult(index) == ssa.register(value) && code.instruction(index).guard().isEmpty() ? index : -1;
    }

    /** The two values of the loop's head that the arms keep. */
    private Range range(Arm[] arms, LoopForest.Loop loop) {
        int low = Ssa.NONE;
        int high = Ssa.NONE;
        for (Arm arm : arms) {
            low = isHead(arm.low(), loop) ? arm.low() : low;
            high = isHead(arm.high(), loop) ? arm.high() : high;
        }
        return low == Ssa.NONE || high == Ssa.NONE || low == high ? null : new Range(low, high);
    }

    private boolean isHead(int value, LoopForest.Loop loop) {
        return value != Ssa.NONE && ssa.kind(value) == SsaKind.PHI && ssa.block(value) == loop.head();
    }

    private boolean comesRound(int phi, int value, LoopForest.Loop loop) {
        int[] predecessors = of.flow().predecessors(loop.head());
        for (int p = 0; p < predecessors.length; p++) {
            int input = ssa.inputs(phi)[p];
            if (loop.contains(predecessors[p]) && (input == Ssa.NONE || ssa.origin(input) != value)) {
                return false;
            }
        }
        return true;
    }

    private boolean small(Range range) {
        int bits = ssa.bits(range.low());
        AbstractValue low = of.states()[range.low()].signed(bits);
        AbstractValue high = of.states()[range.high()].signed(bits);
        long most = bits == Integer.SIZE ? Integer.MAX_VALUE : MOST_LONG;
        return low.variable() == null && high.variable() == null && low.bounded() && high.bounded() && low.low() >= 0 && high.low() >= 0
                && low.high() <= most && high.high() <= most && low.high() + high.high() <= most;
    }

    private boolean halves(Arm arm, Range range, boolean closed) {
        if (arm.high() == range.high()) {
            return isMiddle(plusConstant(arm.low(), 1), range);
        }
        return arm.low() == range.low() && isMiddle(closed ? plusConstant(arm.high(), -1) : arm.high(), range);
    }

    /** The value that a value is a constant more than, or {@link Ssa#NONE}. */
    private int plusConstant(int value, long amount) {
        int index = definition(value);
        boolean adds = index >= 0 && adds(index, "add")
                && code.instruction(index).operands().get(2) instanceof Operand.Immediate(long by, boolean unsigned) && (int) by == amount
                && (ssa.bits(value) == Integer.SIZE || by == amount);
        return adds ? operand(index, 1) : Ssa.NONE;
    }

    private boolean adds(int index, String opcode) {
        Instruction instruction = code.instruction(index);
        return instruction.opcode().equals(opcode) && instruction.modifiers().size() == 1 && instruction.operands().size() == 3
                && instruction.type().filter(IntegerTransfer::isInteger).isPresent();
    }

    /** {@code (low + high) / 2} or {@code low + (high - low) / 2}. */
    private boolean isMiddle(int value, Range range) {
        int at = plain(value);
        int half = halved(at);
        if (half != Ssa.NONE) {
            return isOf(half, range.low(), range.high(), "add") || isOf(half, range.high(), range.low(), "add");
        }
        int index = definition(at);
        if (index < 0 || !adds(index, "add")) {
            return false;
        }
        int first = plain(operand(index, 1));
        int second = plain(operand(index, 2));
        return first == range.low() && isOf(halved(second), range.high(), range.low(), "sub")
                || second == range.low() && isOf(halved(first), range.high(), range.low(), "sub");
    }

    private boolean isOf(int value, int first, int second, String opcode) {
        int index = definition(value);
        return index >= 0 && adds(index, opcode) && plain(operand(index, 1)) == first && plain(operand(index, 2)) == second;
    }

    /** Returns the value of which a non-negative value is half: {@code x} in {@code x >> 1} or {@code (x + (x >>> 31)) >> 1}. */
    private int halved(int value) {
        int shifted = shifted(value, 1);
        int index = definition(shifted);
        if (index >= 0 && adds(index, "add")) {
            int first = plain(operand(index, 1));
            int second = plain(operand(index, 2));
            int sign = ssa.bits(value) - 1;
            if (first != Ssa.NONE && shifted(second, sign) == first && isLogical(second)) {
                return first;
            }
            if (second != Ssa.NONE && shifted(first, sign) == second && isLogical(first)) {
                return second;
            }
        }
        return shifted;
    }

    private boolean isLogical(int value) {
        return !code.instruction(definition(value)).modifiers().getFirst().startsWith("s");
    }

    /** Returns the value that was shifted right by this many bits. */
    private int shifted(int value, int by) {
        int index = definition(value);
        boolean shifts = index >= 0 && code.instruction(index).opcode().equals("shr")
                && code.instruction(index).operands().get(2) instanceof Operand.Immediate(long bits, boolean unsigned) && bits == by;
        int from = shifts ? plain(operand(index, 1)) : Ssa.NONE;
        return from == Ssa.NONE || ssa.bits(from) != ssa.bits(value) ? Ssa.NONE : from;
    }

    /** The value, passing over copies. */
    private int plain(int value) {
        int at = value;
        for (int i = 0; i < LONGEST_CHAIN; i++) {
            int index = definition(at);
            int from = index >= 0 && code.instruction(index).opcode().equals("mov") ? operand(index, 1) : Ssa.NONE;
            if (from == Ssa.NONE || ssa.bits(from) != ssa.bits(at)) {
                return at;
            }
            at = from;
        }
        return at;
    }
}
