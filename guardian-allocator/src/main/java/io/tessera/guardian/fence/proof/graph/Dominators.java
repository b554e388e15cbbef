package io.tessera.guardian.fence.proof.graph;

import java.util.Arrays;

/**
 * Dominators of blocks (Cooper, Harvey, Kennedy: A Simple, Fast Dominance Algorithm), and dominance frontiers. Unreachable blocks have none.
 * Immutable.
 */
public final class Dominators {
    private final ControlFlow flow;
    private final Work work;
    private final int[] parents;
    private final int[] entered;
    private final int[] left;
    private final int[][] children;

    private Dominators(ControlFlow flow, Work work) {
        this.work = work;
        this.flow = flow;
        parents = new int[flow.blocks()];
        entered = new int[flow.blocks()];
        left = new int[flow.blocks()];
        children = new int[flow.blocks()][];
        find();
        number();
    }

    static Dominators of(ControlFlow flow, Work work) {
        return new Dominators(flow, work);
    }

    private void find() {
        Arrays.fill(parents, -1);
        int[] order = flow.order();
        parents[order[0]] = order[0];
        boolean changed = true;
        while (changed) {
            changed = false;
            for (int i = 1; i < order.length; i++) {
                int found = -1;
                for (int from : flow.predecessors(order[i])) {
                    if (flow.orderOf(from) >= 0 && parents[from] >= 0) {
                        found = found < 0 ? from : meet(from, found);
                    }
                }
                changed |= parents[order[i]] != found;
                parents[order[i]] = found;
            }
        }
    }

    private int meet(int a, int b) {
        while (a != b) {
            while (flow.orderOf(a) > flow.orderOf(b)) {
                a = parents[a];
                work.spend(1);
            }
            while (flow.orderOf(b) > flow.orderOf(a)) {
                b = parents[b];
                work.spend(1);
            }
        }
        return a;
    }

    private void number() {
        IntArray[] below = new IntArray[flow.blocks()];
        Arrays.setAll(below, unused -> new IntArray());
        int root = flow.order()[0];
        for (int block : flow.order()) {
            if (block != root) {
                below[parents[block]].add(block);
            }
        }
        for (int b = 0; b < children.length; b++) {
            children[b] = below[b].toArray();
        }
        int clock = 0;
        int[] at = new int[flow.blocks()];
        IntArray stack = new IntArray();
        stack.add(root);
        entered[root] = ++clock;
        while (!stack.isEmpty()) {
            int block = stack.get(stack.size() - 1);
            if (at[block] < children[block].length) {
                int child = children[block][at[block]++];
                entered[child] = ++clock;
                stack.add(child);
            } else {
                left[block] = ++clock;
                stack.removeLast();
            }
        }
    }

    /** Blocks that it dominates immediately. */
    int[] children(int block) {
        return children[block];
    }

    /** Returns whether every path to {@code block} goes through {@code over}; both must be reachable. A block dominates itself. */
    public boolean dominates(int over, int block) {
        return entered[over] > 0 && entered[over] <= entered[block] && left[block] <= left[over];
    }

    /** Returns the dominance frontier of each block. */
    int[][] frontiers() {
        IntArray[] found = new IntArray[flow.blocks()];
        Arrays.setAll(found, unused -> new IntArray());
        for (int block : flow.order()) {
            if (flow.predecessors(block).length > 1) {
                for (int from : flow.predecessors(block)) {
                    for (int run = from; flow.orderOf(from) >= 0 && run != parents[block]; run = parents[run]) {
                        work.spend(1);
                        if (found[run].isEmpty() || found[run].get(found[run].size() - 1) != block) {
                            found[run].add(block);
                        }
                    }
                }
            }
        }
        return Arrays.stream(found).map(IntArray::toArray).toArray(int[][]::new);
    }
}
