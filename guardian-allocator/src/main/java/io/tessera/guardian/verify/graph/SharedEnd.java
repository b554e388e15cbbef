package io.tessera.guardian.verify.graph;

import io.tessera.guardian.verify.Symbol;
import io.tessera.guardian.verify.flow.Flow;
import io.tessera.guardian.verify.flow.FlowEdge;
import io.tessera.guardian.verify.value.Clusters;
import io.tessera.guardian.verify.value.Node;
import io.tessera.guardian.verify.value.Node.Fact;
import io.tessera.guardian.verify.value.Value;
import java.util.List;

/**
 * A lower bound of a block's shared memory at a place, derived from branches: the address of its end, or the size of its dynamic memory, is at least
 * a number. Immutable.
 */
public final class SharedEnd {
    private static final int MOST_PASSES = 8;
    private static final int MOST_BLOCKS_UP = 24;

    private final Graph graph;
    private final long[] entering;

    /** Creates the bounds of a function whose values are known. */
    public SharedEnd(Graph graph) {
        this.graph = graph;
        Flow flow = graph.flow;
        entering = new long[flow.start.length];
        java.util.Arrays.fill(entering, Long.MAX_VALUE);
        boolean changed = true;
        for (int pass = 0; changed && pass < MOST_PASSES; pass++) {
            changed = false;
            for (int block : flow.order) {
                long least = block == 0 ? 0 : Long.MAX_VALUE;
                for (FlowEdge edge : flow.in.get(block)) {
                    least = Math.min(least, leaving(edge));
                }
                if (least < entering[block]) {
                    entering[block] = least;
                    changed = true;
                }
            }
        }
        if (changed) {
            java.util.Arrays.fill(entering, 0);
        }
    }

    private long leaving(FlowEdge edge) {
        long least = within(edge.from(), Integer.MAX_VALUE);
        for (Fact fact : graph.facts(edge)) {
            least = fact.condition() == null ? Math.max(least, bytes(fact)) : least;
        }
        return least;
    }

    private long within(int block, int position) {
        long least = entering[block];
        graph.work.spend(graph.facts.get(block).size());
        for (Graph.Placed placed : graph.facts.get(block)) {
            if (placed.position() < position && placed.fact().condition() == null) {
                least = Math.max(least, bytes(placed.fact()));
            }
        }
        return least;
    }

    /** Bytes that there are where a fact holds; 0 where it says nothing of that. */
    private long bytes(Fact fact) {
        boolean more = fact.compare().equals("ge") || fact.compare().equals("gt");
        if (fact.kind() != Fact.Kind.COMPARE || !more || fact.signed() || fact.bits() != Integer.SIZE || !fact.other().value.exact()) {
            return 0;
        }
        Node target = fact.target().origin();
        Value value = target.value;
        boolean end = !graph.body.isClustered() && value.is(Value.Kind.VARIABLE) && value.symbol() == Symbol.END && value.low() == 0
                && value.high() == 0;
        boolean dynamic = !graph.body.isClustered() && target.is("mov", "u32") && target.args[0].kind == Node.Kind.SPECIAL
                && target.args[0].special.equals("%dynamic_smem_size");
        return end || dynamic || Clusters.isSize(target) ? fact.other().value.unsigned(Integer.SIZE).low() + (fact.compare().equals("gt") ? 1 : 0)
                : 0;
    }

    /**
     * Returns whether there are this many bytes.
     *
     * @param where a predicate that holds at the place, or null
     * @param not   whether the predicate does not hold instead
     * @param guard another predicate
     */
    public boolean has(long bytes, int block, int position, Value.Condition where, boolean not, Value.Condition guard, boolean negated) {
        if (within(block, position) >= bytes) {
            return true;
        }
        int at = block;
        int before = position;
        for (int up = 0; up < MOST_BLOCKS_UP; up++) {
            for (Graph.Placed placed : graph.facts.get(at)) {
                Fact fact = placed.fact();
                if (placed.position() < before && bytes(fact) >= bytes && holds(fact.condition(), fact.negated(), where, not, guard, negated)
                        && holds(fact.second(), fact.opposite(), where, not, guard, negated)) {
                    return true;
                }
            }
            graph.work.spend(1 + graph.facts.get(at).size());
            List<FlowEdge> in = graph.flow.in.get(at);
            if (in.size() != 1 || at == 0) {
                return false;
            }
            at = in.getFirst().from();
            before = Integer.MAX_VALUE;
        }
        return false;
    }

    private static boolean holds(Node condition, boolean negated, Value.Condition where, boolean not, Value.Condition guard, boolean guardNegated) {
        return condition == null || condition == where && negated == not || condition == guard && negated == guardNegated;
    }
}
