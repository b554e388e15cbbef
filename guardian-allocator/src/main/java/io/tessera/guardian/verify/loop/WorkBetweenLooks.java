package io.tessera.guardian.verify.loop;

import io.tessera.guardian.ptx.Instruction;
import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.verify.Reserved;
import io.tessera.guardian.verify.flow.Components;
import io.tessera.guardian.verify.flow.FlowEdge;
import io.tessera.guardian.verify.flow.Form;
import io.tessera.guardian.verify.graph.Graph;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToLongFunction;

/**
 * How many instructions a function makes, at most, from one look at the stop word to the next, or until it returns. A block is gone through once, and once
 * more for each time that an edge is passed that closes a loop around it; such an edge takes from a counter what {@link Reserved#MOST_FUEL} allows in all
 * before the stop word is read. In a counted loop each of these times is as many as it has passes. Immutable.
 */
public final class WorkBetweenLooks {
    /** More than anything that is accepted; sums of it do not run over. */
    static final long UNBOUNDED = 1L << 40;

    /**
     * Instructions, each as often as it is made.
     *
     * @param own   of the function
     * @param calls how often each function is called; the empty name is one that is not known
     */
    private record Part(long own, Map<String, Long> calls) {
        long cost(ToLongFunction<String> callee) {
            long sum = own;
            for (Map.Entry<String, Long> call : calls.entrySet()) {
                sum = Math.min(UNBOUNDED, sum + times(call.getValue(), callee.applyAsLong(call.getKey())));
            }
            return sum;
        }
    }

    /** A loop whose edge takes so much from the counter in a register. */
    private record Loop(int register, long weight, Part body) {
    }

    private final Part all;
    private final List<Loop> loops = new ArrayList<>();

    /**
     * Of a function.
     *
     * @param looks  the edges in cycles that look
     * @param passes how often each block is gone through for each time that it is come to
     */
    WorkBetweenLooks(Graph graph, Map<FlowEdge, Fuel.Look> looks, long[] passes) {
        List<List<String>> calls = new ArrayList<>();
        List<List<Integer>> cycles = cycles(graph, looks.keySet());
        for (int block = 0; block < passes.length; block++) {
            calls.add(callees(graph, block));
        }
        all = part(graph, graph.flow.order, passes, calls);
        for (Map.Entry<FlowEdge, Fuel.Look> each : looks.entrySet()) {
            Fuel.Look look = each.getValue();
            if (look.register() >= 0) {
                loops.add(new Loop(look.register(), look.weight(), part(graph, body(graph, each.getKey(), cycles), passes, calls)));
            }
        }
    }

    static long times(long count, long each) {
        return count == 0 || each <= UNBOUNDED / count ? count * each : UNBOUNDED;
    }

    private static List<String> callees(Graph graph, int block) {
        List<String> found = new ArrayList<>(0);
        for (int at = graph.flow.start[block]; at < graph.flow.end[block]; at++) {
            if (graph.forms[at] == Form.CALL) {
                found.add(callee(graph.body.code.get(at)));
            }
        }
        return found;
    }

    private static String callee(Instruction call) {
        for (Operand operand : call.operands()) {
            if (operand instanceof Operand.Symbol(String name, long _)) {
                return name;
            }
        }
        return "";
    }

    private static Part part(Graph graph, int[] blocks, long[] passes, List<List<String>> calls) {
        long own = 0;
        Map<String, Long> called = new HashMap<>();
        for (int block : blocks) {
            own = Math.min(UNBOUNDED, own + times(passes[block], graph.flow.end[block] - graph.flow.start[block]));
            for (String callee : calls.get(block)) {
                called.merge(callee, passes[block], (one, other) -> Math.min(UNBOUNDED, one + other));
            }
            graph.work.spend(calls.get(block).size());
        }
        return new Part(own, called);
    }

    /** Blocks from each of which the others of its set are come to, and so may be again and again; none if every edge that looks leads back to a block that dominates it. */
    private static List<List<Integer>> cycles(Graph graph, Set<FlowEdge> looks) {
        if (looks.stream().allMatch(edge -> graph.flow.dominance.dominates(edge.to(), edge.from()))) {
            return List.of();
        }
        List<FlowEdge> edges = graph.flow.in.stream().flatMap(List::stream).toList();
        graph.work.spend(edges.size());
        return Components.cycles(edges);
    }

    /**
     * What an edge closes a loop around: where its end is on all ways to its beginning, what comes to that without it. Else the blocks from which its beginning is come to again: no
     * other is gone through between two times that the edge is passed. Where it is in no cycle, all.
     */
    private static int[] body(Graph graph, FlowEdge edge, List<List<Integer>> cycles) {
        if (!graph.flow.dominance.dominates(edge.to(), edge.from())) {
            graph.work.spend(graph.flow.order.length);
            return cycles.stream().filter(cycle -> cycle.contains(edge.from()) && cycle.contains(edge.to())).findFirst()
                    .map(cycle -> cycle.stream().mapToInt(Integer::intValue).toArray()).orElse(graph.flow.order);
        }
        Set<Integer> inside = new LinkedHashSet<>(List.of(edge.to()));
        ArrayDeque<Integer> open = new ArrayDeque<>();
        if (inside.add(edge.from())) {
            open.add(edge.from());
        }
        while (!open.isEmpty()) {
            for (FlowEdge in : graph.flow.in.get(open.removeLast())) {
                graph.work.spend(1);
                if (inside.add(in.from())) {
                    open.add(in.from());
                }
            }
        }
        return inside.stream().mapToInt(Integer::intValue).toArray();
    }

    /** How many instructions, where calls take so many. */
    long most(ToLongFunction<String> callee) {
        Map<Integer, Long> counters = new HashMap<>();
        for (Loop loop : loops) {
            long times = Reserved.MOST_FUEL / loop.weight() + 1;
            counters.merge(loop.register(), times(times, loop.body().cost(callee)), Math::max);
        }
        long sum = all.cost(callee);
        for (long counter : counters.values()) {
            sum = Math.min(UNBOUNDED, sum + counter);
        }
        return sum;
    }
}
