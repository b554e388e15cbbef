package io.tessera.software.driver.graph;

/**
 * What became of an update of an executable graph (cuGraphExecUpdate).
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

    static final GraphUpdate ACCEPTED = new GraphUpdate(SUCCESS, null, null);

    /** Whether the executable graph was changed. */
    public boolean accepted() {
        return result == SUCCESS;
    }
}
