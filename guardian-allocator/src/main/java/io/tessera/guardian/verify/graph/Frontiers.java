package io.tessera.guardian.verify.graph;

import io.tessera.guardian.verify.WorkBudget;
import io.tessera.guardian.verify.flow.Flow;
import io.tessera.guardian.verify.flow.FlowEdge;
import io.tessera.guardian.verify.flow.PlaceMap;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Finds where several values of a register may join: blocks on the dominance frontier of those that write it, and of such blocks in turn (Cytron and
 * others, 1991). In every other block the value is that of the dominating block. Otherwise, a register that one side of a branch writes would be
 * searched for up to the function's start, over all joins before it. Used by one thread.
 */
final class Frontiers {
    /** Maximum number of entries per block; beyond that, all joins count. */
    private static final int MOST_EACH = 64;
    private static final int FEW = 16;
    private static final int[] MANY = {0};

    private final Flow flow;
    private final Writers writers;
    private final WorkBudget work;
    /** The frontier of each block; null where they are too large. */
    private final List<List<Integer>> frontiers = new ArrayList<>();
    /** The blocks that write a register, or where its values come together; none where they are many. */
    private final Map<Integer, int[]> known = new HashMap<>();
    private final PlaceMap<Boolean> joins = new PlaceMap<>();
    private boolean tooLarge;

    Frontiers(Flow flow, Writers writers, WorkBudget work) {
        this.flow = flow;
        this.writers = writers;
        this.work = work;
        int[] marked = new int[flow.start.length];
        Arrays.fill(marked, -1);
        for (int t = 0; t < flow.start.length; t++) {
            frontiers.add(new ArrayList<>(1));
        }
        long left = (long) MOST_EACH * flow.start.length;
        for (int block : flow.order) {
            List<FlowEdge> in = flow.in.get(block);
            if (in.size() < 2 && block != 0) {
                continue;
            }
            int top = flow.dominance.dominator(block);
            for (FlowEdge edge : in) {
                for (int at = edge.from(); at != top && marked[at] != block; at = flow.dominance.dominator(at)) {
                    marked[at] = block;
                    frontiers.get(at).add(block);
                    left--;
                }
            }
            if (left < 0) {
                tooLarge = true;
                return;
            }
        }
    }

    /** Returns whether values of a register may join at the start of a block. */
    boolean isJoin(int register, int block) {
        if (tooLarge || block == 0) {
            return true;
        }
        known.computeIfAbsent(register, this::find);
        return joins.get(register, block) != null;
    }

    /**
     * Returns whether no instruction has written a register with many writers on any path to the start of a block; false if the answer would take
     * long.
     */
    boolean isUnwritten(int register, int block) {
        if (tooLarge) {
            return false;
        }
        int[] found = known.computeIfAbsent(register, this::find);
        for (int each : found) {
            if (flow.dominance.dominates(each, block)) {
                return false;
            }
        }
        return true;
    }

    private int[] find(int register) {
        ArrayDeque<Integer> open = new ArrayDeque<>(writers.blocks(register));
        Set<Integer> all = new HashSet<>(open);
        while (!open.isEmpty()) {
            List<Integer> frontier = frontiers.get(open.removeFirst());
            work.spend(1 + frontier.size());
            for (int block : frontier) {
                if (joins.get(register, block) == null) {
                    joins.put(register, block, true);
                    open.add(block);
                    all.add(block);
                }
            }
        }
        return all.size() > FEW ? MANY : all.stream().mapToInt(Integer::intValue).toArray();
    }
}
