package io.tessera.guardian.fence.proof.loop;

import io.tessera.guardian.fence.proof.LoopCut;
import io.tessera.guardian.fence.proof.analysis.EntryValues;
import io.tessera.guardian.fence.proof.analysis.FunctionAnalysis;
import io.tessera.guardian.fence.proof.graph.Condition;
import io.tessera.guardian.fence.proof.graph.FlatCode;
import io.tessera.guardian.fence.proof.graph.LoopForest;
import io.tessera.guardian.fence.proof.graph.Ssa;
import io.tessera.guardian.fence.proof.graph.SsaKind;
import io.tessera.guardian.fence.proof.value.AbstractValue;
import io.tessera.guardian.fence.proof.value.IntegerTransfer;
import io.tessera.guardian.fence.proof.value.IntervalArithmetic;
import io.tessera.guardian.fence.proof.value.Refinement;
import io.tessera.guardian.fence.proof.value.TripCount;
import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.ScalarType;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Induction variables, and bounds on the iterations of loops. A value of a loop's head is inductive if on every path back to the head it is itself
 * plus a number. In static single assignment form, that number is added exactly once per iteration, wherever in the loop the addition stands.
 */
public final class Induction {
    private static final int LONGEST_CHAIN = 256;
    /**
     * The largest step for which a limit is cut. The part that is cut off is as long as the largest possible step, not the actual one: with the
     * stride of a grid, it would be the whole work of a loop.
     */
    private static final long LARGEST_STEP = 1 << 16;

    /**
     * A value that is the sum of another value and an amount.
     *
     * @param from   the other value
     * @param amount the added amount
     */
    record Sum(int from, AbstractValue amount) {
    }

    private final FunctionAnalysis of;
    private final FlatCode code;
    private final Ssa ssa;
    private final ShiftedCounters shifts;
    private final Bisection bisection;
    private final EntryValues entries;
    private final Map<Integer, Long> bounds = new HashMap<>();
    private final Map<Integer, LoopCut> cuts = new LinkedHashMap<>();

    /** Creates the induction analysis of an analysed function. */
    public Induction(FunctionAnalysis of) {
        this.of = of;
        code = of.code();
        ssa = of.ssa();
        shifts = new ShiftedCounters(of);
        bisection = new Bisection(of);
        entries = new EntryValues(of);
    }

    /** Returns the amount that a phi of a loop's head gains per iteration, or null if it is not known. */
    public AbstractValue step(int phi, LoopForest.Loop loop) {
        AbstractValue all = null;
        int[] predecessors = of.flow().predecessors(loop.head());
        for (int p = 0; p < predecessors.length; p++) {
            int input = ssa.inputs(phi)[p];
            if (loop.contains(predecessors[p]) && input != Ssa.NONE) {
                AbstractValue gain = gain(input, phi, loop);
                if (gain == null) {
                    return null;
                }
                all = all == null ? gain : all.join(gain);
            }
        }
        return all;
    }

    /** The value of the phi when the loop is entered. */
    AbstractValue entry(int phi, LoopForest.Loop loop) {
        return entries.of(phi, loop);
    }

    /** {@code value - phi}, where value is made from the phi by additions in the loop; else null. */
    private AbstractValue gain(int value, int phi, LoopForest.Loop loop) {
        AbstractValue sum = AbstractValue.constant(0);
        int at = ssa.origin(value);
        for (int i = 0; i < LONGEST_CHAIN && at != phi; i++) {
            Sum part = sum(at, loop);
            if (part == null) {
                return null;
            }
            sum = IntervalArithmetic.add(sum, part.amount());
            at = ssa.origin(part.from());
        }
        return at == phi ? sum : null;
    }

    /** A result in the loop as a sum, of which one side comes from outside the loop or is a constant. */
    private Sum sum(int value, LoopForest.Loop loop) {
        if (ssa.kind(value) != SsaKind.RESULT) {
            return null;
        }
        int index = ssa.instruction(value);
        Instruction instruction = code.instruction(index);
        int bits = ssa.bits(value);
        if (instruction.opcode().equals("cvt")) {
            return sameWord(index, bits);
        }
        if (instruction.has("sat") || instruction.type().isEmpty() || !IntegerTransfer.isInteger(instruction.type().get())
                || instruction.type().get().bits() != bits) {
            return null;
        }
        boolean subtracts = instruction.opcode().equals("sub");
        Operand first = instruction.operands().get(1);
        if (instruction.opcode().equals("mov") && first instanceof Operand.Register register) {
            return sumOf(index, register, AbstractValue.constant(0));
        }
        if (!subtracts && !instruction.opcode().equals("add")) {
            return null;
        }
        Operand second = instruction.operands().get(2);
        if (first instanceof Operand.Register register && invariant(index, second, loop)) {
            AbstractValue amount = amount(index, second, bits);
            return sumOf(index, register, subtracts ? IntervalArithmetic.negate(amount) : amount);
        }
        boolean exchanged = !subtracts && second instanceof Operand.Register && invariant(index, first, loop);
        return exchanged ? sumOf(index, (Operand.Register) second, amount(index, first, bits)) : null;
    }

    /** The low word of what a word was widened to: the word. */
    private Sum sameWord(int index, int bits) {
        int wide = source(index, bits, 2 * bits);
        int at = wide == Ssa.NONE ? Ssa.NONE : ssa.origin(wide);
        int word = at == Ssa.NONE || ssa.kind(at) != SsaKind.RESULT ? Ssa.NONE : source(ssa.instruction(at), 2 * bits, bits);
        return word == Ssa.NONE ? null : new Sum(word, AbstractValue.constant(0));
    }

    /** Returns the value that an instruction converts from one width of integers to another, or {@link Ssa#NONE}. */
    private int source(int index, int toBits, int fromBits) {
        Instruction cvt = code.instruction(index);
        List<ScalarType> types = cvt.types();
        boolean plain = cvt.opcode().equals("cvt") && cvt.modifiers().size() == 2 && types.size() == 2
                && IntegerTransfer.isInteger(types.get(0)) && IntegerTransfer.isInteger(types.get(1)) && types.get(0).bits() == toBits
                && types.get(1).bits() == fromBits && cvt.operands().get(1) instanceof Operand.Register && code.onlyResult(index) >= 0;
        int from = plain ? ssa.use(index, ((Operand.Register) cvt.operands().get(1)).name()) : Ssa.NONE;
        return from == Ssa.NONE || ssa.bits(from) != fromBits ? Ssa.NONE : from;
    }

    private Sum sumOf(int index, Operand.Register register, AbstractValue amount) {
        int from = ssa.use(index, register.name());
        return from == Ssa.NONE || amount.variable() != null ? null : new Sum(from, amount);
    }

    private AbstractValue amount(int index, Operand operand, int bits) {
        return of.transfer().operand(index, operand, bits).signed(bits);
    }

    /** Returns whether an operand is a constant, is defined outside the loop, or is the same in all iterations. */
    boolean invariant(int index, Operand operand, LoopForest.Loop loop) {
        if (operand instanceof Operand.Immediate || operand instanceof Operand.SpecialRegister) {
            return operand instanceof Operand.Immediate;
        }
        int value = operand instanceof Operand.Register register ? ssa.use(index, register.name()) : Ssa.NONE;
        return value != Ssa.NONE && !ssa.isUnstable(value)
                && (!loop.contains(ssa.block(ssa.origin(value))) || isPlace(ssa.origin(value)));
    }

    /** Returns whether a value is the thread's position in its grid, or the grid's size: it is the same each time it is read. */
    private boolean isPlace(int value) {
        int index = ssa.kind(value) == SsaKind.RESULT ? ssa.instruction(value) : -1;
        return index >= 0 && code.instruction(index).opcode().equals("mov")
                && code.onlyResult(index) == ssa.register(value)
                && code.instruction(index).operands().get(1) instanceof Operand.SpecialRegister(String name, String _)
                && (name.equals("%tid") || name.equals("%ntid") || name.equals("%ctaid") || name.equals("%nctaid"));
    }

    /** Returns an upper bound on how often control goes back to the head of a loop after it was entered, or {@link TripCount#UNBOUNDED}. */
    public long rounds(LoopForest.Loop loop) {
        return bounds.computeIfAbsent(loop.head(), head -> {
            long plain = uncutRounds(loop);
            return plain < TripCount.UNBOUNDED ? plain : rounds(loop, true);
        });
    }

    /** As above, without any limit that would have to be cut. */
    long uncutRounds(LoopForest.Loop loop) {
        return rounds(loop, false);
    }

    /** The limits that {@link #rounds} took to be cut. */
    public List<LoopCut> cuts() {
        return List.copyOf(cuts.values());
    }

    private long rounds(LoopForest.Loop loop, boolean cutting) {
        long least = TripCount.UNBOUNDED;
        for (int block = loop.body().nextSetBit(0); block >= 0; block = loop.body().nextSetBit(block + 1)) {
            int[] next = of.flow().successors(block);
            if (next.length == 2 && loop.contains(next[0]) != loop.contains(next[1]) && inEveryRound(block, loop)) {
                int inside = loop.contains(next[0]) ? next[0] : next[1];
                for (Condition condition : Condition.on(code, of.flow(), block, inside)) {
                    if (least == TripCount.UNBOUNDED || !cutting) {
                        least = Math.min(least, cutting ? cutRounds(condition, loop) : rounds(condition, loop));
                    }
                }
            }
        }
        return least;
    }

    /** As {@link #rounds}, for a comparison whose limit the rewriter can cut; records that it must be cut. */
    private long cutRounds(Condition condition, LoopForest.Loop loop) {
        Instruction setp = code.instruction(condition.comparison());
        String relation = setp.modifiers().getFirst();
        String type = setp.modifiers().getLast();
        int index = condition.comparison();
        boolean shaped = condition.holds() && setp.operands().size() == 3 && setp.modifiers().size() == 2
                && (type.equals("s32") || type.equals("u32")) && (relation.equals("lt") || relation.equals("gt"))
                && setp.operands().get(1) instanceof Operand.Register && setp.operands().get(2) instanceof Operand.Register;
        if (!shaped) {
            return TripCount.UNBOUNDED;
        }
        Operand.Register limit = (Operand.Register) setp.operands().get(2);
        int counter = ssa.use(index, ((Operand.Register) setp.operands().get(1)).name());
        int value = ssa.use(index, limit.name()) == Ssa.NONE ? Ssa.NONE : ssa.origin(ssa.use(index, limit.name()));
        boolean made = value != Ssa.NONE && counter != Ssa.NONE && ssa.kind(value) == SsaKind.RESULT
                && !loop.contains(ssa.block(value)) && ssa.bits(value) == 32 && !ssa.isUnstable(value)
                && code.onlyResult(ssa.instruction(value)) == ssa.register(value)
                && code.counts(ssa.register(counter));
        Steps steps = made ? steps(counter, loop) : null;
        if (steps == null || steps.step().high() > LARGEST_STEP || steps.step().low() < -LARGEST_STEP) {
            return TripCount.UNBOUNDED;
        }
        boolean upper = relation.equals("lt");
        boolean signed = type.equals("s32");
        long bound = upper ? (signed ? Integer.MAX_VALUE : (1L << 32) - 1) - steps.step().high() + 1
                : (signed ? Integer.MIN_VALUE : 0) - steps.step().low() - 1;
        AbstractValue known = signed ? of.states()[value].signed(32) : of.states()[value].unsigned(32);
        AbstractValue cut = AbstractValue.between(upper ? Math.min(known.low(), bound) : Math.max(known.low(), bound),
                upper ? Math.min(known.high(), bound) : Math.max(known.high(), bound));
        long found = new TripCount(steps.first(), steps.step(), cut, signed, 32).whileOrdered(relation);
        if (found < TripCount.UNBOUNDED) {
            cuts.put(index, new LoopCut(setp, code.instruction(ssa.instruction(value)), limit, type, upper, bound));
        }
        return found;
    }

    private boolean inEveryRound(int block, LoopForest.Loop loop) {
        for (int latch : loop.latches()) {
            if (!of.dominators().dominates(block, latch)) {
                return false;
            }
        }
        return true;
    }

    private long rounds(Condition condition, LoopForest.Loop loop) {
        Instruction setp = code.instruction(condition.comparison());
        int bits = setp.type().map(type -> IntegerTransfer.isInteger(type) ? type.bits() : 0).orElse(0);
        long least = bisection.rounds(condition, loop);
        for (int side = 1; side <= 2 && bits >= 16; side++) {
            int index = condition.comparison();
            if (setp.operands().get(side) instanceof Operand.Register register
                    && ssa.use(index, register.name()) != Ssa.NONE
                    && ssa.bits(ssa.use(index, register.name())) == bits) {
                String relation = Refinement.relation(setp, condition.holds(), side == 2);
                least = Math.min(least, rounds(index, ssa.use(index, register.name()), relation, 3 - side, loop, bits));
            }
        }
        return least;
    }

    /** A counter when it is first compared, and what it gains between two comparisons. */
    private record Steps(AbstractValue first, AbstractValue step) {
    }

    private Steps steps(int value, LoopForest.Loop loop) {
        int phi = headPhi(value, loop);
        AbstractValue ahead = phi == Ssa.NONE ? null : gain(value, phi, loop);
        AbstractValue step = phi == Ssa.NONE ? null : step(phi, loop);
        boolean known = ahead != null && step != null && !ssa.isUnstable(value) && ahead.isConstant() && step.bounded();
        // If the compared value is the one carried around the loop, two comparisons are one step apart, whatever the step is.
        boolean once = ahead != null && step != null && !ssa.isUnstable(value) && step.bounded() && ahead.bounded()
                && comesRound(value, phi, loop);
        return known || once ? new Steps(IntervalArithmetic.add(entry(phi, loop), ahead), step) : null;
    }

    private boolean comesRound(int value, int phi, LoopForest.Loop loop) {
        int[] predecessors = of.flow().predecessors(loop.head());
        for (int p = 0; p < predecessors.length; p++) {
            int input = ssa.inputs(phi)[p];
            if (loop.contains(predecessors[p]) && input != Ssa.NONE && ssa.origin(input) != ssa.origin(value)) {
                return false;
            }
        }
        return true;
    }

    private long rounds(int comparison, int value, String relation, int otherSide, LoopForest.Loop loop, int bits) {
        Steps steps = steps(value, loop);
        if (steps == null) {
            return shifts.rounds(comparison, value, relation, otherSide, loop);
        }
        Instruction setp = code.instruction(comparison);
        Operand operand = setp.operands().get(otherSide);
        AbstractValue other = of.transfer().operand(comparison, operand, bits);
        TripCount count = new TripCount(steps.first(), steps.step(), other, Refinement.isSigned(setp), bits);
        return relation.equals("ne") ? (invariant(comparison, operand, loop) ? count.untilEqual() : TripCount.UNBOUNDED)
                : count.whileOrdered(relation);
    }

    /** The phi of the loop's head that a value is made from by additions, or {@link Ssa#NONE}. */
    private int headPhi(int value, LoopForest.Loop loop) {
        int at = ssa.origin(value);
        for (int i = 0; i < LONGEST_CHAIN; i++) {
            if (ssa.kind(at) == SsaKind.PHI && ssa.block(at) == loop.head()) {
                return at;
            }
            Sum part = loop.contains(ssa.block(at)) ? sum(at, loop) : null;
            if (part == null) {
                return Ssa.NONE;
            }
            at = ssa.origin(part.from());
        }
        return Ssa.NONE;
    }
}
