package io.tessera.guardian.fence.proof.graph;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

/** Natural loops. Loops with one head are merged. A cycle with several entries is not a loop here; {@link #irreducible()} reports it. Immutable. */
public final class LoopForest {
    /** Maximum size of all loop bodies together, per block of the function; nothing is known of loops beyond it. */
    private static final int MOST_NESTING = 64;

    /**
     * A natural loop.
     *
     * @param head    its first block
     * @param latches blocks from which control goes back to the head
     * @param body    its blocks
     * @param size    number of its blocks
     */
    public record Loop(int head, int[] latches, BitSet body, int size) {
        /** Returns whether a block is in the loop, inner loops included. */
        public boolean contains(int block) {
            return body.get(block);
        }
    }

    private final List<Loop> loops = new ArrayList<>();
    private final int[] innermost;
    private final int[] depth;
    private final Loop[] byHead;
    private boolean irreducible;

    private LoopForest(ControlFlow flow, Dominators dominators, Work work) {
        innermost = new int[flow.blocks()];
        depth = new int[flow.blocks()];
        byHead = new Loop[flow.blocks()];
        Arrays.fill(innermost, -1);
        long budget = (long) MOST_NESTING * flow.blocks();
        for (int head : flow.order()) {
            IntArray latches = new IntArray();
            for (int from : flow.predecessors(head)) {
                if (flow.orderOf(from) >= flow.orderOf(head)) {
                    if (dominators.dominates(head, from)) {
                        latches.add(from);
                    } else {
                        irreducible = true;
                    }
                }
            }
            if (!latches.isEmpty() && budget > 0) {
                Loop loop = body(head, latches.toArray(), flow, work);
                budget -= loop.size();
                byHead[head] = loop;
                loops.add(loop);
            }
            irreducible |= budget <= 0;
        }
        for (int i = 0; i < loops.size(); i++) {
            // Outer heads come first in the order, so an inner loop overwrites.
            int number = i;
            loops.get(i).body().stream().forEach(block -> {
                innermost[block] = number;
                depth[block]++;
            });
        }
    }

    static LoopForest of(ControlFlow flow, Dominators dominators, Work work) {
        return new LoopForest(flow, dominators, work);
    }

    private static Loop body(int head, int[] latches, ControlFlow flow, Work spent) {
        // The set of a loop is as long as the highest number in it.
        spent.spend(flow.blocks() / Long.SIZE);
        BitSet body = new BitSet();
        body.set(head);
        int size = 1;
        IntArray work = new IntArray();
        for (int latch : latches) {
            work.add(latch);
        }
        while (!work.isEmpty()) {
            int block = work.removeLast();
            if (!body.get(block) && flow.orderOf(block) >= 0) {
                body.set(block);
                size++;
                for (int from : flow.predecessors(block)) {
                    spent.spend(1);
                    work.add(from);
                }
            }
        }
        return new Loop(head, latches, body, size);
    }

    /** All loops. Not to be changed. */
    public List<Loop> all() {
        return loops;
    }

    /** The loop of a head, or null. */
    public Loop at(int head) {
        return byHead[head];
    }

    /** Returns how many loops a block is in. */
    public int depth(int block) {
        return depth[block];
    }

    /** Returns whether the function has a cycle that is not a loop of {@link #all()}. */
    public boolean irreducible() {
        return irreducible;
    }
}
