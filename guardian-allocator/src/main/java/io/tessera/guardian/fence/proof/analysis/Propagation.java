package io.tessera.guardian.fence.proof.analysis;

import io.tessera.guardian.fence.proof.graph.FlatCode;
import io.tessera.guardian.fence.proof.graph.FunctionGraph;
import io.tessera.guardian.fence.proof.graph.PropagationOrder;
import io.tessera.guardian.fence.proof.graph.Ssa;
import io.tessera.guardian.fence.proof.graph.SsaKind;
import io.tessera.guardian.fence.proof.value.AbstractValue;
import io.tessera.guardian.fence.proof.value.IntervalArithmetic;
import io.tessera.guardian.fence.proof.value.Refinement;
import io.tessera.guardian.fence.proof.value.SpecialBounds;
import io.tessera.guardian.ptx.Instruction;
import java.util.BitSet;
import java.util.Map;
import java.util.TreeSet;

/**
 * Forward abstract interpretation over SSA values: ascends from nothing with widening where a loop closes, then descends twice. Its
 * work is bounded; where the bound is met, nothing is known. Not thread-safe.
 */
public final class Propagation {
    private static final int CHANGES_BEFORE_WIDENING = 2;
    private static final int MOST_CHANGES = 48;
    private static final long STEPS_PER_VALUE = 64;

    private final FlatCode code;
    private final Ssa ssa;
    private final PropagationOrder order;
    private final AbstractValue[] states;
    private final Transfer transfer;
    private final int[] changes;
    private final TreeSet<Long> stops;
    /** Places of values that may be something else since they were computed. */
    private final BitSet dirty;
    private Map<Integer, AbstractValue> known = Map.of();

    private Propagation(FunctionGraph graph, SpecialBounds special) {
        code = graph.code();
        ssa = graph.ssa();
        order = graph.order();
        states = new AbstractValue[ssa.values()];
        dirty = new BitSet(states.length);
        transfer = new Transfer(code, ssa, special, states);
        changes = new int[states.length];
        stops = graph.order().stops();
    }

    /** Returns the state of each value; the top element for a value that is not reached or of which nothing is known. */
    static AbstractValue[] run(FunctionGraph graph, SpecialBounds special) {
        Propagation propagation = new Propagation(graph, special);
        propagation.dirty.set(0, propagation.states.length);
        propagation.settle();
        return propagation.states;
    }

    /**
     * Repeats the computation, with states of some values that are known from another source.
     *
     * @param states state of each value; not changed
     * @param known  upper bounds of some states
     */
    static AbstractValue[] narrow(FunctionGraph graph, SpecialBounds special, AbstractValue[] states, Map<Integer, AbstractValue> known) {
        Propagation propagation = new Propagation(graph, special);
        System.arraycopy(states, 0, propagation.states, 0, states.length);
        propagation.known = known;
        known.forEach((value, _) -> propagation.dirty.set(propagation.order.place(value)));
        propagation.descend();
        propagation.descend();
        return propagation.states;
    }

    private void settle() {
        boolean settled = ascend();
        if (settled) {
            descend();
            descend();
        }
        for (int value = 0; value < states.length; value++) {
            if (!settled || states[value] == null) {
                states[value] = AbstractValue.TOP;
            }
        }
    }

    /** Values that are made from this one have to be computed again. */
    private void changed(int value) {
        for (int u = order.firstUser(value); u < order.endOfUsers(value); u++) {
            dirty.set(order.place(order.user(u)));
        }
    }

    /** Leaves dirty what is less than the join of all that it was. */
    private boolean ascend() {
        BitSet joined = new BitSet(states.length);
        long steps = STEPS_PER_VALUE * states.length + 1000;
        while (!dirty.isEmpty()) {
            for (int at = dirty.nextSetBit(0); at >= 0; at = dirty.nextSetBit(at + 1)) {
                dirty.clear(at);
                int value = order.value(at);
                if (--steps < 0) {
                    return false;
                }
                AbstractValue now = evaluate(value);
                AbstractValue next = step(value, now);
                joined.set(at, next != null && !next.equals(now));
                if (next != null && !next.equals(states[value])) {
                    states[value] = next;
                    changes[value]++;
                    changed(value);
                }
            }
        }
        dirty.or(joined);
        return true;
    }

    /** Returns the new state of a value, which is never smaller than the old one. */
    private AbstractValue step(int value, AbstractValue now) {
        AbstractValue before = states[value];
        if (before == null || now == null) {
            return now == null ? before : now;
        }
        AbstractValue joined = before.join(now);
        if (joined.equals(before) || changes[value] >= MOST_CHANGES) {
            return joined.equals(before) ? before : AbstractValue.TOP;
        }
        boolean widens = ssa.kind(value) == SsaKind.PHI && order.closes(ssa.block(value))
                && changes[value] >= CHANGES_BEFORE_WIDENING;
        return widens ? widen(before, joined) : joined;
    }

    private AbstractValue widen(AbstractValue before, AbstractValue now) {
        if (!before.bounded() || !now.bounded()) {
            return now;
        }
        Long low = now.low() < before.low() ? stops.floor(now.low()) : Long.valueOf(now.low());
        Long high = now.high() > before.high() ? stops.ceiling(now.high()) : Long.valueOf(now.high());
        long least = low == null ? Long.MIN_VALUE : low;
        long most = high == null ? Long.MAX_VALUE : high;
        return AbstractValue.of(now.variable(), now.generic(), least, most, now.zeros());
    }

    private void descend() {
        for (int at = dirty.nextSetBit(0); at >= 0; at = dirty.nextSetBit(at + 1)) {
            dirty.clear(at);
            int value = order.value(at);
            AbstractValue now = evaluate(value);
            if (now != null && states[value] != null && !now.equals(states[value])) {
                states[value] = now;
                changed(value);
            }
        }
    }

    private AbstractValue evaluate(int value) {
        AbstractValue most = known.get(value);
        return most != null ? most : switch (ssa.kind(value)) {
            case UNDEFINED -> AbstractValue.TOP;
            case RESULT -> transfer.result(ssa.instruction(value), value);
            case REFINED -> refined(value);
            case PHI, GUARDED -> joined(value);
        };
    }

    private AbstractValue joined(int value) {
        AbstractValue all = null;
        for (int input : ssa.inputs(value)) {
            if (input != Ssa.NONE && states[input] != null) {
                all = all == null ? states[input] : all.join(states[input]);
            }
        }
        return all == null ? null : all.in(Math.max(16, ssa.bits(value)));
    }

    private AbstractValue refined(int value) {
        AbstractValue before = states[ssa.inputs(value)[0]];
        int comparison = ssa.instruction(value);
        Instruction setp = code.instruction(comparison);
        int bits = ssa.bits(value);
        if (before == null || bits < 16 || ssa.isUnstable(value) || code.types(comparison).isEmpty()
                || code.types(comparison).getLast().bits() != bits) {
            return before;
        }
        int subject = ssa.subject(value);
        AbstractValue other = transfer.operand(comparison, setp.operands().get(3 - subject), bits);
        String relation = Refinement.relation(setp, ssa.condition(value).holds(), subject == 2);
        if (ssa.amount(value) == 0) {
            return Refinement.apply(before, relation, other, Refinement.isSigned(setp), bits);
        }
        AbstractValue amount = AbstractValue.constant(ssa.amount(value));
        AbstractValue compared = IntervalArithmetic.add(before, amount);
        AbstractValue left = Refinement.apply(compared, relation, other, Refinement.isSigned(setp), bits);
        if (left == null || left.equals(compared)) {
            return left == null ? null : before;
        }
        return IntervalArithmetic.subtract(left, amount).withZeros(before.zeros());
    }
}
