package io.tessera.executor.call.graph;

import io.tessera.device.HandleKind;
import io.tessera.executor.call.CallChecks;
import io.tessera.executor.call.CallTable;
import io.tessera.executor.call.ClientAllocations;
import io.tessera.executor.call.ClientExecution;
import io.tessera.executor.call.HandleResults;
import io.tessera.executor.pool.GraphMemory;
import io.tessera.executor.stream.ClientStream;
import io.tessera.executor.stream.CompletionCounters;
import java.util.function.LongConsumer;

/** Graphs of one client: their calls, and the executor's records of them. One owner thread. */
public final class GraphFamily {
    private final GraphBook book;
    private final GraphMemoryCalls memory;
    private final CaptureCalls captures;

    /** Enters the calls. */
    public GraphFamily(ClientExecution execution, ClientAllocations allocations, CompletionCounters words, CallChecks checks, CallTable calls) {
        this.book = new GraphBook(execution.handles(), execution.driver(), checks.moved());
        this.memory = new GraphMemoryCalls(execution.driver(), allocations.graphMemory(), allocations.memory(), allocations.charge());
        NodeStructures nodes = new NodeStructures(execution.device(), execution.fences(), words, book::isCondition, checks);
        ClusterNodes clusters = new ClusterNodes(execution.driver(), execution.fences());
        memory.register(calls);
        new GraphCalls(execution, allocations.graphMemory(), book, memory, checks.structures(), clusters).register(calls);
        this.captures = new CaptureCalls(execution.driver(), execution.handles(), execution.streams(), book, memory, checks.results());
        captures.register(calls);
        new NodeCalls(execution.driver(), execution.fences(), book, checks, nodes, memory, clusters).register(calls);
        new NodeQueries(execution.driver(), allocations.graphMemory(), nodes, memory, checks.results()).register(calls);
        GraphMemory kept = allocations.graphMemory();
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

    /** Ends a capture that was begun on a stream and is open, and with it what was captured. */
    public void endCapture(ClientStream stream) {
        captures.end(stream);
    }

    /** Returns the account of the client's graphs. */
    public GraphBook book() {
        return book;
    }

    /** Returns the calls for allocations and frees in graphs. */
    public GraphMemoryCalls memory() {
        return memory;
    }
}
