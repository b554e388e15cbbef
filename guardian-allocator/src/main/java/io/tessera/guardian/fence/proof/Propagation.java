package io.tessera.guardian.fence.proof;

import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.ScalarType;
import java.util.Arrays;
import java.util.BitSet;
import java.util.TreeSet;

/**
 * Forward abstract interpretation over SSA values: ascends from nothing with widening where a loop closes, then descends twice. Its
 * work is bounded; where the bound is met, nothing is known. Not thread-safe.
 */
final class Propagation {
    private static final int CHANGES_BEFORE_WIDENING = 2;
    private static final int MOST_CHANGES = 48;
    private static final long STEPS_PER_VALUE = 64;
    private static final int MOST_CONSTANTS = 64;
    /** Where widening stops besides at the constants that the function compares with. */
    private static final long[] STOPS = {-(1L << 40), -(1L << 33), Integer.MIN_VALUE, -1, 0, 255, 1023, 65535,
        Integer.MAX_VALUE - 1, Integer.MAX_VALUE, (1L << 32) - 2, (1L << 32) - 1, 1L << 33, 1L << 40};

    private final FlatCode code;
    private final ControlFlow flow;
    private final Ssa ssa;
    private final AbstractValue[] states;
    private final Transfer transfer;
    private final int[] order;
    private final int[] orderOf;
    private final int[] userStarts;
    private final int[] users;
    private final boolean[] closes;
    private final int[] changes;
    private final TreeSet<Long> stops = new TreeSet<>();

    private Propagation(FlatCode code, ControlFlow flow, Ssa ssa, SpecialBounds special, AbstractValue[] states) {
        this.code = code;
        this.flow = flow;
        this.ssa = ssa;
        int count = ssa.values();
        this.states = states;
        transfer = new Transfer(code, ssa, special, states);
        order = new int[count];
        orderOf = new int[count];
        userStarts = new int[count + 1];
        users = findUsers();
        closes = new boolean[flow.blocks()];
        changes = new int[count];
        sort();
        findStops();
    }

    /** States of all values; those that are not reached, or about which nothing is known, are {@link AbstractValue#TOP}. */
    static AbstractValue[] run(FlatCode code, ControlFlow flow, Ssa ssa, SpecialBounds special) {
        Propagation propagation = new Propagation(code, flow, ssa, special, new AbstractValue[ssa.values()]);
        boolean settled = propagation.ascend();
        if (settled) {
            propagation.descend();
            propagation.descend();
        }
        for (int v = 0; v < propagation.states.length; v++) {
            if (!settled || propagation.states[v] == null) {
                propagation.states[v] = AbstractValue.TOP;
            }
        }
        return propagation.states;
    }

    /**
     * Carries on what is known of some values by other means, in the states of an analysis.
     *
     * @param known by value; null where there is nothing
     */
    static void narrow(FunctionAnalysis of, AbstractValue[] known, int sweeps) {
        Propagation propagation = new Propagation(of.code(), of.flow(), of.ssa(), of.special(), of.states());
        for (int i = 0; i < sweeps; i++) {
            for (int value : propagation.order) {
                AbstractValue before = of.states()[value];
                AbstractValue now = propagation.evaluate(value);
                of.states()[value] = narrower(known[value], narrower(now, before).in(Math.max(16, of.ssa().bits(value))));
            }
        }
    }

    /** The one that says more, where both hold; the first may be null. */
    private static AbstractValue narrower(AbstractValue a, AbstractValue b) {
        if (a == null || !a.bounded()) {
            return b.bounded() || a == null ? b : a;
        }
        return b.bounded() && b.high() - b.low() <= a.high() - a.low() ? b : a;
    }

    /** Values by blocks, phis first, so that most values come after those that they are made of. */
    private void sort() {
        int[] starts = new int[flow.blocks() + 1];
        for (int v = 0; v < order.length; v++) {
            starts[flow.orderOf(ssa.block(v)) + 1]++;
        }
        for (int b = 0; b < flow.blocks(); b++) {
            starts[b + 1] += starts[b];
        }
        for (int v = 0; v < order.length; v++) {
            orderOf[v] = starts[flow.orderOf(ssa.block(v))]++;
            order[orderOf[v]] = v;
        }
        for (int block : flow.order()) {
            for (int from : flow.predecessors(block)) {
                closes[block] |= flow.orderOf(from) >= flow.orderOf(block);
            }
        }
    }

    private interface Edge {
        void from(int value, int user);
    }

    private void edges(Edge edge) {
        for (int v = 0; v < ssa.values(); v++) {
            for (int input : ssa.inputs(v)) {
                if (input != Ssa.NONE) {
                    edge.from(input, v);
                }
            }
            Ssa.Kind kind = ssa.kind(v);
            if (kind == Ssa.Kind.RESULT || kind == Ssa.Kind.REFINED) {
                for (int input : ssa.uses(ssa.instruction(v))) {
                    if (input != Ssa.NONE) {
                        edge.from(input, v);
                    }
                }
            }
        }
    }

    private int[] findUsers() {
        edges((value, user) -> userStarts[value + 1]++);
        for (int v = 0; v < ssa.values(); v++) {
            userStarts[v + 1] += userStarts[v];
        }
        int[] found = new int[userStarts[ssa.values()]];
        int[] at = Arrays.copyOf(userStarts, userStarts.length);
        edges((value, user) -> found[at[value]++] = user);
        return found;
    }

    private void findStops() {
        for (long stop : STOPS) {
            stops.add(stop);
        }
        int left = MOST_CONSTANTS;
        for (int i = 0; i < code.size() && left > 0; i++) {
            Instruction instruction = code.instruction(i);
            if (instruction.opcode().equals("setp") && instruction.operands().size() > 2
                    && instruction.operands().get(2) instanceof Operand.Immediate(long value, boolean unsigned)) {
                for (long near = -1; near <= 1; near++) {
                    left -= stops.add(value + near) ? 1 : 0;
                }
            }
        }
    }

    private boolean ascend() {
        BitSet dirty = new BitSet(order.length);
        dirty.set(0, order.length);
        long steps = STEPS_PER_VALUE * order.length + 1000;
        while (!dirty.isEmpty()) {
            for (int at = dirty.nextSetBit(0); at >= 0; at = dirty.nextSetBit(at + 1)) {
                dirty.clear(at);
                int value = order[at];
                if (--steps < 0) {
                    return false;
                }
                AbstractValue now = step(value);
                if (now != null && !now.equals(states[value])) {
                    states[value] = now;
                    changes[value]++;
                    for (int u = userStarts[value]; u < userStarts[value + 1]; u++) {
                        dirty.set(orderOf[users[u]]);
                    }
                }
            }
        }
        return true;
    }

    /** What a value becomes: never less than it was. */
    private AbstractValue step(int value) {
        AbstractValue before = states[value];
        AbstractValue now = evaluate(value);
        if (before == null || now == null) {
            return now == null ? before : now;
        }
        AbstractValue joined = before.join(now);
        if (joined.equals(before) || changes[value] >= MOST_CHANGES) {
            return joined.equals(before) ? before : AbstractValue.TOP;
        }
        boolean widens = ssa.kind(value) == Ssa.Kind.PHI && closes[ssa.block(value)]
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
        for (int value : order) {
            AbstractValue now = evaluate(value);
            if (now != null && states[value] != null) {
                states[value] = now;
            }
        }
    }

    private AbstractValue evaluate(int value) {
        return switch (ssa.kind(value)) {
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
        if (before == null || bits < 16 || ssa.isUnstable(value) || setp.type().map(ScalarType::bits).orElse(0) != bits) {
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
