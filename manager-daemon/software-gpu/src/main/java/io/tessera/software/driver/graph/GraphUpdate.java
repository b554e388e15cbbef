package io.tessera.software.driver.graph;

import io.tessera.device.CudaEnums.GraphExecUpdate;

/**
 * Result of an update of an executable graph (cuGraphExecUpdate).
 *
 * @param result    CUgraphExecUpdateResult
 * @param errorNode node of the new graph that does not fit, null if all do
 * @param errorFrom predecessor of that node if the edge does not fit, else null
 */
public record GraphUpdate(int result, GraphNode errorNode, GraphNode errorFrom) {
    static final GraphUpdate ACCEPTED = new GraphUpdate(GraphExecUpdate.SUCCESS, null, null);

    /** Returns whether the executable graph was changed. */
    public boolean accepted() {
        return result == GraphExecUpdate.SUCCESS;
    }
}
