package io.tessera.guardian.verify;

import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import java.util.ArrayList;
import java.util.List;

/**
 * Shows that every cycle of a function ends: it looks at the stop word, by way of a counter that only the stop word fills, or counts 32 bits to a bound.
 * Edges that are gone only after such a look are left out; what is left must have no cycle but counted ones. Used once.
 */
final class Loops {
    /** Edges of a component that are tried as the end of a counted loop. */
    private static final int MOST_TRIED = 8;
    private static final long MOST_BURNT = 1L << 30;
    private static final long MOST_NAP_NS = 100;

    private final Graph graph;
    private final Flow flow;
    private final Fuel fuel;
    private final int[] component;

    Loops(Graph graph) {
        this.graph = graph;
        this.flow = graph.flow;
        this.fuel = new Fuel(graph, MOST_BURNT);
        this.component = new int[flow.start.length];
    }

    void check() throws UnverifiedException {
        boolean back = false;
        for (int block : flow.order) {
            for (Flow.Edge edge : flow.out.get(block)) {
                back |= flow.start[edge.to()] <= flow.start[block];
            }
        }
        if (!back) {
            return;
        }
        List<Flow.Edge> left = new ArrayList<>();
        for (int block : flow.order) {
            for (Flow.Edge edge : flow.out.get(block)) {
                if (!fuel.looks(edge)) {
                    left.add(edge);
                }
            }
        }
        List<List<Integer>> cycles = new Components(flow.start.length, left).cycles(component);
        for (List<Integer> cycle : cycles) {
            counted(cycle);
        }
    }

    private void counted(List<Integer> cycle) throws UnverifiedException {
        int number = component[cycle.getFirst()];
        List<Flow.Edge> inside = new ArrayList<>();
        for (int block : cycle) {
            for (Flow.Edge edge : flow.out.get(block)) {
                if (component[edge.to()] == number && !fuel.looks(edge)) {
                    inside.add(edge);
                }
            }
            calm(block);
        }
        int tried = 0;
        for (Flow.Edge edge : inside) {
            for (Fact fact : fuel.facts(edge)) {
                if (fact.condition() == null && fact.kind() == Fact.Kind.COMPARE && ++tried <= MOST_TRIED && ends(edge, fact, inside, number)) {
                    return;
                }
            }
        }
        Instruction at = graph.body.code.get(flow.start[cycle.stream().min(Integer::compare).orElseThrow()]);
        throw new UnverifiedException(at.line(), "a loop that is not shown to end, nor to look at the stop word");
    }

    /** A pass takes no long sleep, and calls nothing. */
    private void calm(int block) throws UnverifiedException {
        for (int at = flow.start[block]; at < flow.end[block]; at++) {
            Instruction i = graph.body.code.get(at);
            boolean nap = i.opcode().equals("nanosleep") && i.operands().getFirst() instanceof Operand.Immediate(long ns, boolean _) && ns >= 0 && ns <= MOST_NAP_NS;
            if (graph.forms[at] == Form.CALL || i.opcode().equals("nanosleep") && !nap) {
                throw new UnverifiedException(i.line(), i.mnemonic() + " in a loop that does not look at the stop word");
            }
        }
    }

    /** Whether all cycles go by an edge that is gone only as long as a counter has not come to its bound, and count it once. */
    private boolean ends(Flow.Edge edge, Fact fact, List<Flow.Edge> inside, int number) {
        Node counter = fact.bits() == Integer.SIZE ? counted(fact.target().origin(), number) : null;
        boolean up = counter != null && counter.is("add");
        if (counter == null || !up && !counter.is("sub") || !counter.typed(Integer.SIZE) || counter.instruction.modifiers().size() != 1
                || component[counter.trace] != number || counter.args[1].kind != Node.Kind.NUMBER) {
            return equalBits(edge, fact, inside, number);
        }
        long step = up ? (int) counter.args[1].number : -(long) (int) counter.args[1].number;
        Node before = counter.args[0].origin();
        boolean own = fact.target().origin() == counter || fact.target().origin() == before;
        if (step == 0 || before.kind != Node.Kind.PHI || !own || component[before.trace] != number || !counts(before, counter, number)) {
            return false;
        }
        return bounded(fact, step, number) && passes(edge, before.trace, inside);
    }

    /** A value that is compared, or what it becomes for the next pass where it is compared before it is counted. */
    private Node counted(Node compared, int number) {
        if (compared.kind != Node.Kind.PHI || component[compared.trace] != number) {
            return compared;
        }
        List<Flow.Edge> in = flow.in.get(compared.trace);
        for (int n = 0; n < in.size(); n++) {
            if (component[in.get(n).from()] == number && !fuel.looks(in.get(n))) {
                return compared.args[n].origin();
            }
        }
        return compared;
    }

    /** The value that comes round is the counter's, from wherever it comes. */
    private boolean counts(Node phi, Node counter, int number) {
        List<Flow.Edge> in = flow.in.get(phi.trace);
        for (int n = 0; n < in.size(); n++) {
            Flow.Edge edge = in.get(n);
            boolean round = component[edge.from()] == number && !fuel.looks(edge);
            if (round && phi.args[n].origin() != counter) {
                return false;
            }
        }
        return true;
    }

    private boolean bounded(Fact fact, long step, int number) {
        Value limit = fact.signed() ? fact.other().value.signed(Integer.SIZE) : fact.other().value.unsigned(Integer.SIZE);
        if (!fact.other().value.isNumber()) {
            return false;
        }
        long most = fact.signed() ? Integer.MAX_VALUE : 0xFFFF_FFFFL;
        long least = fact.signed() ? Integer.MIN_VALUE : 0;
        return switch (fact.compare()) {
            case "lt" -> step > 0 && limit.high() <= most - step + 1;
            case "le" -> step > 0 && limit.high() <= most - step;
            case "gt" -> step < 0 && limit.low() >= least - step - 1;
            case "ge" -> step < 0 && limit.low() >= least - step;
            case "ne" -> (step == 1 || step == -1) && fixed(fact.other(), number);
            default -> false;
        };
    }

    private boolean fixed(Node node, int number) {
        Node origin = node.origin();
        return origin.kind == Node.Kind.NUMBER || component[origin.trace] != number;
    }

    /** The form for steps of more than one: {@code (counter ^ bound) & -(step's lowest bit) != 0}. */
    private boolean equalBits(Flow.Edge edge, Fact fact, List<Flow.Edge> inside, int number) {
        Node masked = fact.target().origin();
        boolean form = fact.compare().equals("ne") && fact.other().kind == Node.Kind.NUMBER && fact.other().number == 0 && masked.is("and", "b32")
                && masked.args[1].kind == Node.Kind.NUMBER && masked.args[0].origin().is("xor", "b32");
        if (!form) {
            return false;
        }
        Node differ = masked.args[0].origin();
        Node counter = differ.args[0].origin();
        boolean up = counter.is("add");
        if (!up && !counter.is("sub") || !counter.typed(Integer.SIZE) || counter.instruction.modifiers().size() != 1 || component[counter.trace] != number
                || counter.args[1].kind != Node.Kind.NUMBER || !fixed(differ.args[1], number)) {
            return false;
        }
        int step = (int) counter.args[1].number;
        Node before = counter.args[0].origin();
        long mask = (int) masked.args[1].number;
        return step != 0 && -mask == 1L << Integer.numberOfTrailingZeros(step) && before.kind == Node.Kind.PHI && component[before.trace] == number
                && counts(before, counter, number) && passes(edge, before.trace, inside);
    }

    /** Without the edge there is no cycle, and none without the block. */
    private boolean passes(Flow.Edge edge, int block, List<Flow.Edge> inside) {
        graph.work.spend(inside.size());
        List<Flow.Edge> noEdge = inside.stream().filter(each -> !each.equals(edge)).toList();
        List<Flow.Edge> noBlock = inside.stream().filter(each -> each.to() != block).toList();
        return Components.acyclic(noEdge) && Components.acyclic(noBlock);
    }
}
