package io.tessera.software.driver.graph;

import io.tessera.software.driver.operation.KernelLaunch;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Brings an executable graph up to date with a graph of the same shape (cuGraphExecUpdate). Nodes are matched by the
 * order of making, as the driver matches the graphs of two equal captures.
 *
 * @param result    CUgraphExecUpdateResult
 * @param errorNode node of the new graph that does not fit, null if all do
 * @param errorFrom what that node waits for where the edge does not fit, else null
 */
public record GraphUpdate(int result, GraphNode errorNode, GraphNode errorFrom) {
    /** CU_GRAPH_EXEC_UPDATE_SUCCESS. */
    public static final int SUCCESS = 0;
    /** CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED. */
    public static final int TOPOLOGY_CHANGED = 2;
    /** CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED. */
    public static final int NODE_TYPE_CHANGED = 3;
    /** CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED. */
    public static final int PARAMETERS_CHANGED = 5;
    /** CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED. */
    public static final int NOT_SUPPORTED = 6;

    private static final GraphUpdate ACCEPTED = new GraphUpdate(SUCCESS, null, null);

    /** Whether the executable graph was changed. */
    public boolean accepted() {
        return result == SUCCESS;
    }

    /** Checks all of a graph, and only then changes the executable one. */
    static GraphUpdate apply(GraphExec exec, CudaGraph next) {
        GraphUpdate verdict = check(exec, next);
        if (verdict.accepted()) {
            change(exec, next);
        }
        return verdict;
    }

    /** As {@link #apply}, for the entry. */
    public static GraphUpdate update(GraphExec exec, CudaGraph next) {
        return apply(exec, next);
    }

    private static GraphUpdate check(GraphExec exec, CudaGraph next) {
        List<GraphNode> mine = exec.graph().inOrder();
        List<GraphNode> theirs = next.inOrder();
        if (mine.size() != theirs.size()) {
            return new GraphUpdate(TOPOLOGY_CHANGED, null, null);
        }
        Map<GraphNode, Integer> places = new HashMap<>();
        for (int i = 0; i < mine.size(); i++) {
            places.put(mine.get(i), i);
            places.put(theirs.get(i), i);
        }
        for (int i = 0; i < mine.size(); i++) {
            GraphUpdate verdict = checkNode(exec, mine.get(i), theirs.get(i), places);
            if (!verdict.accepted()) {
                return verdict;
            }
        }
        return ACCEPTED;
    }

    private static GraphUpdate checkNode(GraphExec exec, GraphNode mine, GraphNode theirs, Map<GraphNode, Integer> all) {
        if (mine.type() != theirs.type()) {
            return new GraphUpdate(NODE_TYPE_CHANGED, theirs, null);
        }
        List<Integer> from = places(mine, all);
        List<Integer> fromTheirs = places(theirs, all);
        if (!from.equals(fromTheirs)) {
            return new GraphUpdate(TOPOLOGY_CHANGED, theirs, null);
        }
        if (mine.operation() instanceof KernelLaunch before && theirs.operation() instanceof KernelLaunch after
                && before.cooperative() != after.cooperative()) {
            return new GraphUpdate(PARAMETERS_CHANGED, theirs, null);
        }
        if (mine.type() == NodeType.MEM_ALLOC || mine.type() == NodeType.MEM_FREE) {
            return mine.operation().equals(theirs.operation()) ? ACCEPTED
                    : new GraphUpdate(NOT_SUPPORTED, theirs, null);
        }
        return theirs.operation() instanceof ChildGraph child ? check(exec.child(mine), child.graph()) : ACCEPTED;
    }

    private static List<Integer> places(GraphNode node, Map<GraphNode, Integer> all) {
        List<Integer> places = new ArrayList<>();
        node.dependencies().keySet().forEach(from -> places.add(all.get(from)));
        places.sort(null);
        return places;
    }

    private static void change(GraphExec exec, CudaGraph next) {
        List<GraphNode> mine = exec.graph().inOrder();
        List<GraphNode> theirs = next.inOrder();
        for (int i = 0; i < mine.size(); i++) {
            if (theirs.get(i).operation() instanceof ChildGraph child) {
                change(exec.child(mine.get(i)), child.graph());
            } else {
                mine.get(i).setOperation(theirs.get(i).operation());
            }
        }
    }
}
