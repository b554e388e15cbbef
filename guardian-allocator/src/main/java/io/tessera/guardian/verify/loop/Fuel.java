package io.tessera.guardian.verify.loop;

import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.verify.Reserved;
import io.tessera.guardian.verify.flow.FlowEdge;
import io.tessera.guardian.verify.flow.Form;
import io.tessera.guardian.verify.graph.Graph;
import io.tessera.guardian.verify.value.Node.Fact;
import io.tessera.guardian.verify.value.Node;
import io.tessera.guardian.verify.value.Value;
import io.tessera.guardian.verify.value.WindowForms;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Finds the edges that are only taken after a look at the stop word. Such an edge has one of two forms. In the first, the stop word was just read and
 * is not zero. In the second, a counter was just lowered, was refilled from the stop word if it was no longer positive, and is positive now. Nothing
 * else writes that counter except the function's start, so it becomes zero soon after the stop word does. Used for one function.
 */
final class Fuel {
    /**
     * The look on an edge.
     *
     * @param register register of the counter, or -1 if the stop word was just read
     * @param weight   amount that it takes from the counter
     */
    record Look(int register, long weight) {
    }

    private final Graph graph;
    private final Map<Integer, Boolean> counters = new HashMap<>();
    private final Map<FlowEdge, Optional<Look>> known = new HashMap<>();
    private final Map<Integer, List<Integer>> writers = new HashMap<>();
    private final long mostBurnt;
    private final Map<Integer, Long> firsts = new HashMap<>();
    private int firstCycle = -1;

    Fuel(Graph graph, long mostBurnt) {
        this.graph = graph;
        this.mostBurnt = mostBurnt;
    }

    /** Returns the facts that hold on an edge, those from guarded exits earlier in its block included. */
    List<Fact> facts(FlowEdge edge) {
        List<Fact> all = new ArrayList<>(graph.facts(edge));
        graph.work.spend(graph.facts.get(edge.from()).size());
        for (Graph.Placed placed : graph.facts.get(edge.from())) {
            if (placed.position() >= graph.flow.start[edge.from()]) {
                all.add(placed.fact());
            }
        }
        return all;
    }

    boolean looks(FlowEdge edge) {
        return look(edge).isPresent();
    }

    Optional<Look> look(FlowEdge edge) {
        return known.computeIfAbsent(edge, e -> {
            for (Fact fact : facts(e)) {
                if (fact.condition() == null && fact.kind() == Fact.Kind.COMPARE && fact.target().origin().trace == e.from()) {
                    Look look = look(fact);
                    if (look != null) {
                        return Optional.of(look);
                    }
                }
            }
            return Optional.empty();
        });
    }

    /**
     * Returns whether the function reads the stop word, and ends if it is zero, at both ends: before its first call and its first branch, and again
     * between its last call or branch and each return.
     */
    boolean looksAtBothEnds() {
        int call = graph.flow.start[0];
        while (call < graph.flow.end[0] && graph.forms[call] != Form.CALL) {
            call++;
        }
        boolean all = looksBetween(0, graph.flow.start[0], call);
        for (int block : graph.flow.order) {
            int since = graph.flow.start[block];
            for (int at = since; at < graph.flow.end[block]; at++) {
                if (graph.forms[at] == Form.CALL) {
                    since = at + 1;
                } else if (graph.body.code.get(at).opcode().equals("ret")) {
                    all &= looksBetween(block, since, at);
                }
            }
            all &= graph.flow.end[block] < graph.body.code.size() || !graph.flow.out.get(block).isEmpty() || endsItself(graph.flow.end[block] - 1);
        }
        return all;
    }

    private boolean endsItself(int at) {
        Instruction last = at < 0 ? null : graph.body.code.get(at);
        return last != null && last.guard().isEmpty() && (last.opcode().equals("ret") || last.opcode().equals("exit"));
    }

    /** Returns whether the stop word is read between two places of a block, and the thread is ended if it is zero. */
    private boolean looksBetween(int block, int from, int to) {
        for (Graph.Placed placed : graph.facts.get(block)) {
            graph.work.spend(1);
            Fact fact = placed.fact();
            Node value = fact.condition() == null && fact.kind() == Fact.Kind.COMPARE ? fact.target().origin() : null;
            if (value != null && placed.position() >= from && placed.position() <= to && value.trace == block && value.position >= from
                    && isStop(value)
                    && graph.body.code.get(placed.position()).opcode().equals("exit") && (positive(fact) || some(fact))) {
                return true;
            }
        }
        return false;
    }

    private static boolean positive(Fact fact) {
        return fact.bits() == Integer.SIZE && fact.other().value.exact() && fact.signed()
                && (fact.compare().equals("gt") && fact.other().value.low() >= 0 || fact.compare().equals("ge") && fact.other().value.low() >= 1);
    }

    private static boolean some(Fact fact) {
        return fact.bits() == Integer.SIZE && fact.other().value.exact() && fact.compare().equals("ne") && fact.other().value.low() == 0;
    }

    private Look look(Fact fact) {
        Node value = fact.target().origin();
        if (isStop(value)) {
            return some(fact) || positive(fact) ? new Look(-1, 0) : null;
        }
        boolean counts = positive(fact) && value.kind == Node.Kind.SELECT && isFilled(value) && value.register >= 0
                && counters.computeIfAbsent(value.register, this::isCounter);
        return counts ? new Look(value.register, value.args[1].origin().numberOf(1, 1)) : null;
    }

    private static boolean isStop(Node node) {
        return node.kind == Node.Kind.RESULT && node.index == 0 && node.instruction.mnemonic().equals("ld.volatile.global.u32")
                && stop(node.args[0]) && node.instruction.operands().get(1) instanceof Operand.Address address && address.offsetBytes() == 0;
    }

    private static boolean stop(Node address) {
        Node node = address.origin();
        return node.value.is(Value.Kind.STOP) || node.kind == Node.Kind.SELECT && WindowForms.isPointer(node.args[0], Reserved.STOP);
    }

    /** Returns whether a value is {@code counter - weight} if that is positive, and otherwise the stop word. */
    private static boolean isFilled(Node select) {
        Node lowered = select.args[1].origin();
        Node empty = select.guard;
        return !select.negated && isStop(select.args[0]) && lowered.is("sub", "s32") && lowered.numberOf(1, 0) >= 1
                && lowered.numberOf(1, 0) <= Reserved.MOST_FUEL
                && lowered.trace == select.trace && empty.is("setp", "lt") && empty.instruction.mnemonic().equals("setp.lt.s32") && empty.index == 0
                && empty.args[0].origin() == lowered && empty.numberOf(1, 0) == 1;
    }

    private boolean isCounter(int register) {
        if (writers.isEmpty()) {
            collect();
        }
        long burnt = 0;
        for (int at : writers.getOrDefault(register, List.of())) {
            Instruction i = graph.body.code.get(at);
            boolean own = i.operands().size() == 3 && i.operands().get(1) instanceof Operand.Register(String name)
                    && i.operands().getFirst() instanceof Operand.Register(String into) && name.equals(into);
            switch (i.mnemonic()) {
                case "mov.u32" -> {
                    firstCycle = firstCycle < 0 ? firstCycle() : firstCycle;
                    boolean starts = i.guard().isEmpty() && i.operands().get(1) instanceof Operand.Immediate(long value, boolean _) && value >= 0
                            && value <= Reserved.MOST_FUEL && graph.flow.start[0] <= at && at < firstCycle;
                    if (!starts) {
                        return false;
                    }
                    firsts.merge(register, ((Operand.Immediate) i.operands().get(1)).value(), Math::max);
                }
                case "sub.s32" -> {
                    if (!own || i.guard().isPresent() || !(i.operands().get(2) instanceof Operand.Immediate(long value, boolean _)) || value < 1
                            || value > Reserved.MOST_FUEL) {
                        return false;
                    }
                    burnt += ((Operand.Immediate) i.operands().get(2)).value();
                }
                case "ld.volatile.global.u32" -> {
                    if (!stop(graph.operands[at][1][0])) {
                        return false;
                    }
                }
                default -> {
                    return false;
                }
            }
        }
        return burnt < mostBurnt;
    }

    /** Returns an upper bound of a counter when the function begins. */
    long first(int register) {
        return firsts.getOrDefault(register, Reserved.MOST_FUEL);
    }

    /** Returns whether an instruction reads the stop word. */
    static boolean isLook(Graph graph, int at) {
        Instruction i = graph.body.code.get(at);
        return i.mnemonic().equals("ld.volatile.global.u32") && i.operands().get(1) instanceof Operand.Address address && address.offsetBytes() == 0
                && stop(graph.operands[at][1][0]);
    }

    /** Returns the first instruction that is the target of a backward branch. */
    private int firstCycle() {
        int first = Integer.MAX_VALUE;
        for (int block : graph.flow.order) {
            for (FlowEdge edge : graph.flow.out.get(block)) {
                int to = graph.flow.start[edge.to()];
                first = to <= graph.flow.start[block] ? Math.min(first, to) : first;
            }
        }
        return first;
    }

    private void collect() {
        for (Node node : graph.nodes) {
            if (node.register >= 0 && node.kind != Node.Kind.PHI && node.kind != Node.Kind.SIGMA) {
                writers.computeIfAbsent(node.register, k -> new ArrayList<>(2)).add(node.position);
            }
        }
    }
}
