package io.tessera.executor.call.graph;

import io.tessera.device.HandleKind;
import io.tessera.executor.call.CallChecks;
import io.tessera.executor.call.CallTable;
import io.tessera.executor.call.ClientState;
import io.tessera.executor.call.HandleResults;
import io.tessera.executor.pool.GraphMemory;
import java.util.function.LongConsumer;

/** Graphs of one client: their calls, and what is kept of them. One owner thread. */
public final class GraphFamily {
    private final GraphBook book;
    private final GraphMemoryCalls memory;

    /** Enters the calls. */
    public GraphFamily(ClientState client, CallChecks checks, CallTable calls) {
        this.book = new GraphBook(client.handles(), client.driver(), checks.moved());
        this.memory = new GraphMemoryCalls(client.driver(), client.graphMemory(), client.memory(), client.charge());
        NodeStructures nodes = new NodeStructures(client.device(), client.fences(), client.words(), book::isCondition, checks);
        ClusterNodes clusters = new ClusterNodes(client.driver(), client.fences());
        memory.register(calls);
        new GraphCalls(client, book, memory, checks.structures(), clusters).register(calls);
        new CaptureCalls(client.driver(), client.handles(), client.streams(), book, memory, checks.results()).register(calls);
        new NodeCalls(client.driver(), client.fences(), book, checks, nodes, memory, clusters).register(calls);
        new NodeQueries(client.driver(), client.graphMemory(), nodes, memory, checks.results()).register(calls);
        GraphMemory kept = client.graphMemory();
        ends(checks.results(), HandleKind.GRAPH, kept::graphGone);
        ends(checks.results(), HandleKind.GRAPH_EXEC, kept::executableGone);
        ends(checks.results(), HandleKind.GRAPH_NODE, kept::nodeGone);
    }

    private void ends(HandleResults results, HandleKind kind, LongConsumer memoryGone) {
        results.whenEnded(kind, (clientHandle, value) -> {
            book.ending(kind, clientHandle);
            memoryGone.accept(value);
        });
    }

    /** How large the client's graphs are. */
    public GraphBook book() {
        return book;
    }

    /** Allocations and frees in graphs. */
    public GraphMemoryCalls memory() {
        return memory;
    }
}
