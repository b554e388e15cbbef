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
import java.util.function.IntToLongFunction;
import java.util.function.ToLongFunction;

/**
 * Upper bound of the instructions that a function executes from one look at the stop word to the next, or until it returns; an instruction that may
 * take long counts as many ({@link AccessWork}). A block counts once, and once more for each time that an edge which closes a loop around it is
 * taken. Such an edge decrements a counter, which allows at most {@link Reserved#MOST_FUEL} before the stop word is read. In a counted loop, each
 * of these executions counts once per iteration. Immutable.
 */
public final class WorkBetweenLooks {
    /** More than anything that is accepted; sums of a few such values do not overflow. */
    static final long UNBOUNDED = 1L << 40;

    /**
     * Instructions, each counted as often as it is executed.
     *
     * @param own   instructions of the function
     * @param slow  the part of that due to instructions that may take long
     * @param calls how often each function is called; the empty name stands for an unknown function
     */
    private record Part(long own, long slow, Map<String, Long> calls) {
        long cost(boolean slowOnly, ToLongFunction<String> callee) {
            long sum = slowOnly ? slow : own;
            for (Map.Entry<String, Long> call : calls.entrySet()) {
                sum = Math.min(UNBOUNDED, sum + times(call.getValue(), callee.applyAsLong(call.getKey())));
            }
            return sum;
        }
    }

    /** A loop whose edge takes a weight from the counter in a register, and the counter's first value. */
    private record Loop(int register, long weight, long first, Part body) {
    }

    private final Part all;
    private final List<Loop> loops = new ArrayList<>();

    /**
     * Computes the work of a function.
     *
     * @param looks  the edges in cycles that look
     * @param passes how often each block is executed each time that its loops are entered
     * @param first  returns the initial value of a counter
     */
    WorkBetweenLooks(Graph graph, Map<FlowEdge, Fuel.Look> looks, long[] passes, IntToLongFunction first) {
        List<List<String>> calls = new ArrayList<>();
        List<List<Integer>> cycles = cycles(graph, looks.keySet());
        long[] slow = new long[passes.length];
        for (int block = 0; block < passes.length; block++) {
            calls.add(callees(graph, block));
        }
        for (int block : graph.flow.order) {
            for (int at = graph.flow.start[block]; at < graph.flow.end[block]; at++) {
                slow[block] += AccessWork.of(graph, at);
            }
        }
        all = part(graph, graph.flow.order, passes, slow, calls);
        for (Map.Entry<FlowEdge, Fuel.Look> each : looks.entrySet()) {
            Fuel.Look look = each.getValue();
            if (look.register() >= 0) {
                Part body = part(graph, body(graph, each.getKey(), cycles), passes, slow, calls);
                loops.add(new Loop(look.register(), look.weight(), first.applyAsLong(look.register()), body));
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

    private static Part part(Graph graph, int[] blocks, long[] passes, long[] slow, List<List<String>> calls) {
        long own = 0;
        long slowOnes = 0;
        Map<String, Long> called = new HashMap<>();
        for (int block : blocks) {
            own = Math.min(UNBOUNDED, own + times(passes[block], graph.flow.end[block] - graph.flow.start[block] + slow[block]));
            slowOnes = Math.min(UNBOUNDED, slowOnes + times(passes[block], slow[block]));
            for (String callee : calls.get(block)) {
                called.merge(callee, passes[block], (one, other) -> Math.min(UNBOUNDED, one + other));
            }
            graph.work.spend(calls.get(block).size());
        }
        return new Part(own, slowOnes, called);
    }

    /**
     * Returns the cycles that remain without the edges that look and are back edges (the target dominates the source). Returns none if every edge that
     * looks is a back edge.
     */
    private static List<List<Integer>> cycles(Graph graph, Set<FlowEdge> looks) {
        if (looks.stream().allMatch(edge -> closes(graph, edge))) {
            return List.of();
        }
        List<FlowEdge> edges = graph.flow.in.stream().flatMap(List::stream).filter(edge -> !looks.contains(edge) || !closes(graph, edge)).toList();
        graph.work.spend(edges.size());
        return Components.cycles(edges);
    }

    private static boolean closes(Graph graph, FlowEdge edge) {
        return graph.flow.dominance.dominates(edge.to(), edge.from());
    }

    /**
     * Returns the blocks of the loop that an edge closes. For a back edge this is its natural loop: the blocks that reach its source without passing its
     * target. For any other edge it is the remaining cycle ({@link #cycles}) that contains the edge. Together these cover every path from a block to
     * itself: without the natural loops on it that do not contain the block, the path is still a cycle, and it takes an edge of the second kind.
     */
    private static int[] body(Graph graph, FlowEdge edge, List<List<Integer>> cycles) {
        if (!closes(graph, edge)) {
            graph.work.spend(graph.flow.order.length);
            return cycles.stream().filter(cycle -> cycle.contains(edge.from()) && cycle.contains(edge.to())).findFirst()
                    .map(cycle -> cycle.stream().mapToInt(Integer::intValue).toArray()).orElse(new int[0]);
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

    /** Returns the number of instructions, with those of calls. */
    long most(ToLongFunction<String> callee) {
        return most(false, false, callee);
    }

    /**
     * As above, until the first look.
     *
     * @param slowOnly whether only instructions that may take long, and calls, count
     */
    long first(boolean slowOnly, ToLongFunction<String> callee) {
        return most(true, slowOnly, callee);
    }

    private long most(boolean first, boolean slowOnly, ToLongFunction<String> callee) {
        Map<Integer, Long> counters = new HashMap<>();
        for (Loop loop : loops) {
            // The remaining fuel has to be positive, or the stop word is read.
            long times = Math.max(0, (first ? loop.first() : Reserved.MOST_FUEL) - 1) / loop.weight();
            counters.merge(loop.register(), times(times, loop.body().cost(slowOnly, callee)), Math::max);
        }
        long sum = all.cost(slowOnly, callee);
        for (long counter : counters.values()) {
            sum = Math.min(UNBOUNDED, sum + counter);
        }
        return sum;
    }
}
