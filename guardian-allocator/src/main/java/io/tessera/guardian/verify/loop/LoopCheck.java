package io.tessera.guardian.verify.loop;

import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.verify.UnverifiedException;
import io.tessera.guardian.verify.flow.Components;
import io.tessera.guardian.verify.flow.Flow;
import io.tessera.guardian.verify.flow.FlowEdge;
import io.tessera.guardian.verify.flow.Form;
import io.tessera.guardian.verify.graph.Graph;
import io.tessera.guardian.verify.value.Node.Fact;
import io.tessera.guardian.verify.value.Node;
import io.tessera.guardian.verify.value.Value;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Verifies that every loop of a function ends. A loop is accepted if it looks at the stop word ({@link Fuel}), or if it counts to a bound. So edges
 * that are only taken after a look are removed from the control-flow graph, and each cycle that remains must be a counted loop. Also computes how
 * much the function may execute from one look to the next. Used once.
 */
public final class LoopCheck {
    /** Maximum number of comparisons of a component that are tried as the end of a counted loop. */
    private static final int MOST_TRIED = 8;
    private static final long MOST_BURNT = 1L << 30;
    private static final int MOST_COPIES = 8;
    /** Maximum number of iterations of a loop whose counter is doubled or halved. */
    private static final long MOST_SHIFTS = 33;

    private final Graph graph;
    private final Flow flow;
    private final Fuel fuel;
    private final int[] component;
    /** How often each block is executed each time that a counted loop around it is entered. */
    private final long[] passes;
    private final Map<FlowEdge, Fuel.Look> looks = new LinkedHashMap<>();
    private final List<Counted> found = new ArrayList<>();

    /**
     * A loop that ends by counting.
     *
     * @param head    its block that is executed once in each iteration
     * @param passes  edges by which control returns to the head
     * @param rounds  maximum number of times that these edges are taken for each entry of the loop
     * @param counter its counter at the head
     * @param numbers range of the counter, or null if it is not exactly known
     */
    public record Counted(int head, Set<FlowEdge> passes, long rounds, Node counter, Value numbers) {
    }

    /**
     * The end of a counted loop.
     *
     * @param counter the counter at the head
     * @param rounds  maximum number of times that the head is executed
     * @param after   whether the counter is compared after the step
     * @param range   the counter's range, or null
     */
    private record End(Node counter, long rounds, boolean after, CounterRange range) {
        /** Returns how often control returns to the head. */
        long passes() {
            long fit = rounds - Passes.SPARE + (after ? 0 : 1);
            return range == null ? fit : range.passes();
        }
    }

    /** Creates the check of a function whose values are known. */
    public LoopCheck(Graph graph) {
        this.graph = graph;
        this.flow = graph.flow;
        this.fuel = new Fuel(graph, MOST_BURNT);
        this.component = new int[flow.start.length];
        this.passes = new long[flow.start.length];
        Arrays.fill(passes, 1);
    }

    /** See {@link Fuel#looksAtBothEnds}. */
    public boolean looksAtBothEnds() {
        return fuel.looksAtBothEnds();
    }

    /** Returns the counted loops, outer ones first; valid after {@link #check}. */
    public List<Counted> counted() {
        return found;
    }

    /** Returns the work between looks, after the check. */
    public WorkBetweenLooks work() {
        return new WorkBetweenLooks(graph, looks, passes, fuel::first);
    }

    /** Refuses a cycle that is not shown to end. */
    public void check() throws UnverifiedException {
        boolean back = false;
        for (int block : flow.order) {
            for (FlowEdge edge : flow.out.get(block)) {
                back |= flow.start[edge.to()] <= flow.start[block];
            }
        }
        if (!back) {
            return;
        }
        List<FlowEdge> left = new ArrayList<>();
        for (int block : flow.order) {
            for (FlowEdge edge : flow.out.get(block)) {
                Fuel.Look look = fuel.look(edge).orElse(null);
                if (look == null) {
                    left.add(edge);
                } else {
                    looks.put(edge, look);
                }
            }
        }
        dropLooksOutsideCycles(left);
        ArrayDeque<List<Integer>> cycles = new ArrayDeque<>(new Components(flow.start.length, left).cycles(component));
        int number = flow.start.length;
        while (!cycles.isEmpty()) {
            for (List<Integer> inner : counted(cycles.removeFirst())) {
                for (int block : inner) {
                    component[block] = number;
                }
                number++;
                cycles.addLast(inner);
            }
        }
    }

    /** Drops the looks on edges that are in no cycle. Compilers may place the code of an exit earlier in the text: the branch back to it is taken once. */
    private void dropLooksOutsideCycles(List<FlowEdge> others) {
        List<FlowEdge> all = new ArrayList<>(others);
        all.addAll(looks.keySet());
        int[] strong = new int[flow.start.length];
        new Components(flow.start.length, all).cycles(strong);
        looks.keySet().removeIf(edge -> strong[edge.from()] != strong[edge.to()]);
    }

    /** Shows that all cycles through a head end, and returns the cycles that remain without the head. */
    private List<List<Integer>> counted(List<Integer> cycle) throws UnverifiedException {
        int number = component[cycle.getFirst()];
        List<FlowEdge> inside = new ArrayList<>();
        for (int block : cycle) {
            for (FlowEdge edge : flow.out.get(block)) {
                if (component[edge.to()] == number && !fuel.looks(edge)) {
                    inside.add(edge);
                }
            }
            calm(block);
        }
        int tried = 0;
        for (FlowEdge edge : inside) {
            for (Fact fact : fuel.facts(edge)) {
                End end = fact.condition() == null && fact.kind() == Fact.Kind.COMPARE && ++tried <= MOST_TRIED ? ends(edge, fact, inside, number)
                        : null;
                if (end != null) {
                    cycle.forEach(block -> passes[block] = WorkBetweenLooks.times(passes[block], end.rounds()));
                    int head = end.counter().trace;
                    CounterRange range = end.range();
                    found.add(new Counted(head, inside.stream().filter(each -> each.to() == head).collect(Collectors.toSet()),
                            end.passes(), end.counter(), range == null ? null : range.numbers()));
                    return Components.cycles(inside.stream().filter(each -> !each.equals(edge)).toList());
                }
            }
        }
        Instruction at = graph.body.code.get(flow.start[cycle.stream().min(Integer::compare).orElseThrow()]);
        throw new UnverifiedException(at.line(), "a loop that is not shown to end, nor to look at the stop word");
    }

    /** Refuses a counted loop with a long sleep or a call in it. */
    private void calm(int block) throws UnverifiedException {
        for (int at = flow.start[block]; at < flow.end[block]; at++) {
            Instruction i = graph.body.code.get(at);
            if (graph.forms[at] == Form.CALL || AccessWork.sleeps(i)) {
                throw new UnverifiedException(i.line(), i.mnemonic() + " in a loop that does not look at the stop word");
            }
        }
    }

    /**
     * Returns the end of a counted loop, or null if this edge and fact do not show one. They do if all cycles through the head take the edge, which is
     * only taken while a counter has not reached its bound, and all cycles through the edge pass the head, which counts once. Then each inner loop
     * is entered at most once per iteration.
     */
    private End ends(FlowEdge edge, Fact fact, List<FlowEdge> inside, int number) {
        Node compared = copied(fact.target());
        int bits = fact.bits();
        Node counter = bits == Integer.SIZE || fact.compare().equals("ne") ? counted(compared, number) : null;
        boolean counts = counter != null && (counter.is("add") || counter.is("sub"));
        boolean shifts = counter != null && bits == Integer.SIZE && (counter.is("shl") || counter.is("shr"));
        if (!counts && !shifts || !counter.typed(bits) || counter.instruction.modifiers().size() != 1 || component[counter.trace] != number
                || counter.args.length != 2) {
            return equalBits(edge, fact, inside, number);
        }
        Node before = copied(counter.args[0]);
        boolean own = compared == counter || compared == before;
        if (before.kind != Node.Kind.PHI || !own || component[before.trace] != number || !counts(before, counter, number)) {
            return equalBits(edge, fact, inside, number);
        }
        boolean bounded = counts ? bounded(fact, counter, number) : shifted(fact, counter);
        if (!bounded || !passes(edge, before.trace, inside)) {
            return equalBits(edge, fact, inside, number);
        }
        return new End(before, shifts ? MOST_SHIFTS : rounds(fact, counter, before, number), compared == counter && !shifts,
                counts ? CounterRange.of(fact, counter, starts(before, number), compared == counter) : null);
    }

    private long rounds(Fact fact, Node counter, Node before, int number) {
        List<Node> starts = starts(before, number);
        Value by = counter.args[1].value.signed(fact.bits());
        boolean adds = counter.is("add");
        if (fact.compare().equals("ne")) {
            return Passes.equal(starts, fact.other(), adds ? by.low() : -by.high(), fact.bits());
        }
        boolean up = fact.compare().startsWith("l");
        return Passes.ordered(starts, fact.other(), up == adds ? by.low() : -by.high(), up, fact.signed(),
                fact.compare().length() == 2 && fact.compare().endsWith("t"));
    }

    private List<Node> starts(Node phi, int number) {
        return Passes.starts(phi, flow.in.get(phi.trace), edge -> component[edge.from()] == number && !fuel.looks(edge));
    }

    /** Returns the compared value; or, if the loop compares the counter before the step, its value after the step. */
    private Node counted(Node compared, int number) {
        if (compared.kind != Node.Kind.PHI || component[compared.trace] != number) {
            return compared;
        }
        List<FlowEdge> in = flow.in.get(compared.trace);
        for (int n = 0; n < in.size(); n++) {
            if (component[in.get(n).from()] == number && !fuel.looks(in.get(n))) {
                return copied(compared.args[n]);
            }
        }
        return compared;
    }

    /** Returns the source of a number that was moved from register to register. */
    static Node copied(Node node) {
        Node from = node.origin();
        for (int left = MOST_COPIES; left > 0 && from.is("mov") && from.typed(from.bits) && from.args.length == 1
                && from.args[0].register >= 0 && from.args[0].bits == from.bits; left--) {
            from = from.args[0].origin();
        }
        return from;
    }

    /** Returns whether the phi at the head receives the stepped counter on every path back. */
    private boolean counts(Node phi, Node counter, int number) {
        List<FlowEdge> in = flow.in.get(phi.trace);
        for (int n = 0; n < in.size(); n++) {
            FlowEdge edge = in.get(n);
            boolean round = component[edge.from()] == number && !fuel.looks(edge);
            if (round && copied(phi.args[n]) != counter) {
                return false;
            }
        }
        return true;
    }

    /** Returns whether a counter with the given step reaches the bound without overflowing before. */
    private boolean bounded(Fact fact, Node counter, int number) {
        if (!fact.other().value.isNumber() || !counter.args[1].value.isNumber()) {
            return false;
        }
        Value limit = fact.signed() ? fact.other().value.signed(fact.bits()) : fact.other().value.unsigned(fact.bits());
        Value by = counter.args[1].value.signed(fact.bits());
        long least = counter.is("add") ? by.low() : -by.high();
        long most = counter.is("add") ? by.high() : -by.low();
        long top = fact.signed() ? Integer.MAX_VALUE : 0xFFFF_FFFFL;
        long bottom = fact.signed() ? Integer.MIN_VALUE : 0;
        return switch (fact.compare()) {
            case "lt" -> least > 0 && limit.high() <= top - most + 1;
            case "le" -> least > 0 && limit.high() <= top - most;
            case "gt" -> most < 0 && limit.low() >= bottom - least - 1;
            case "ge" -> most < 0 && limit.low() >= bottom - least;
            case "ne" -> least == most && fixed(fact.other(), number)
                    && (Math.abs(least) == 1 || Passes.meets(starts(counter.args[0].origin(), number), fact.other(), least));
            default -> false;
        };
    }

    /**
     * Returns whether a counter that is shifted left grows to the bound without overflowing before, or a counter that is shifted right falls to its
     * bound: neither takes more than 32 iterations.
     */
    private static boolean shifted(Fact fact, Node counter) {
        Value by = counter.args[1].value;
        if (!fact.other().value.isNumber() || !by.exact() || by.low() < 1 || by.low() >= Integer.SIZE) {
            return false;
        }
        Value limit = fact.signed() ? fact.other().value.signed(Integer.SIZE) : fact.other().value.unsigned(Integer.SIZE);
        if (counter.is("shl")) {
            Value from = counter.args[0].value;
            long least = !from.isNumber() ? 0 : fact.signed() ? from.signed(Integer.SIZE).low() : from.unsigned(Integer.SIZE).low();
            long last = fact.compare().equals("lt") ? limit.high() - 1 : fact.compare().equals("le") ? limit.high() : Long.MAX_VALUE;
            return least >= 1 && last <= (fact.signed() ? Integer.MAX_VALUE : 0xFFFF_FFFFL) >> by.low();
        }
        boolean keepsSign = counter.instruction.mnemonic().equals("shr.s32");
        boolean some = fact.compare().equals("gt") && limit.low() >= 0 || fact.compare().equals("ge") && limit.low() >= 1;
        // A negative number never becomes zero if its sign is kept.
        return some && (fact.signed() || !keepsSign) || fact.compare().equals("ne") && !keepsSign && limit.exact() && limit.low() == 0;
    }

    private boolean fixed(Node node, int number) {
        Node origin = node.origin();
        return origin.kind == Node.Kind.NUMBER || component[origin.trace] != number;
    }

    /** The form for steps of more than one: {@code (counter ^ bound) & -(step's lowest bit) != 0}. */
    private End equalBits(FlowEdge edge, Fact fact, List<FlowEdge> inside, int number) {
        Node masked = fact.target().origin();
        boolean form = fact.compare().equals("ne") && fact.other().kind == Node.Kind.NUMBER && fact.other().number == 0 && masked.is("and", "b32")
                && masked.args[1].kind == Node.Kind.NUMBER && masked.args[0].origin().is("xor", "b32");
        if (!form) {
            return null;
        }
        Node differ = masked.args[0].origin();
        Node counter = differ.args[0].origin();
        boolean up = counter.is("add");
        if (!up && !counter.is("sub") || !counter.typed(Integer.SIZE) || counter.instruction.modifiers().size() != 1
                || component[counter.trace] != number
                || counter.args[1].kind != Node.Kind.NUMBER || !fixed(differ.args[1], number)) {
            return null;
        }
        int step = (int) counter.args[1].number;
        Node before = counter.args[0].origin();
        long mask = (int) masked.args[1].number;
        boolean shown = step != 0 && -mask == 1L << Integer.numberOfTrailingZeros(step) && before.kind == Node.Kind.PHI
                && component[before.trace] == number
                && counts(before, counter, number) && passes(edge, before.trace, inside);
        return shown ? new End(before, Passes.equal(starts(before, number), differ.args[1], up ? step : -step, Integer.SIZE), false, null) : null;
    }

    /** Returns whether every cycle through the block takes the edge, and every cycle through the edge passes the block. */
    private boolean passes(FlowEdge edge, int block, List<FlowEdge> inside) {
        graph.work.spend(inside.size());
        List<FlowEdge> noEdge = inside.stream().filter(each -> !each.equals(edge)).toList();
        List<FlowEdge> noBlock = inside.stream().filter(each -> each.to() != block).toList();
        return Components.cycles(noEdge).stream().noneMatch(cycle -> cycle.contains(block))
                && (edge.to() == block
                        || Components.cycles(noBlock).stream().noneMatch(cycle -> cycle.contains(edge.from()) && cycle.contains(edge.to())));
    }
}
