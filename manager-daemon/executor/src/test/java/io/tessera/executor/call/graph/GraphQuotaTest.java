package io.tessera.executor.call.graph;

import static io.tessera.executor.client.RelayTestClient.filledOut;
import static io.tessera.executor.client.RelayTestClient.in;
import static io.tessera.executor.client.RelayTestClient.outBytes;
import static io.tessera.executor.client.RelayTestClient.value;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.CudaEnums.ChildGraphOwnership;
import io.tessera.device.CudaEnums.GraphNodeType;
import io.tessera.device.CudaLayouts.CUDA_CHILD_GRAPH_NODE_PARAMS;
import io.tessera.device.CudaLayouts.CUgraphNodeParams;
import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.RunningExecutor;
import io.tessera.executor.client.RelayTestClient;
import io.tessera.executor.quota.Countable;
import io.tessera.protocol.relay.RelayLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Graphs count as what the driver has to keep, however few calls asked for it. */
@Timeout(300)
class GraphQuotaTest {
    private static final int MOST_DEPTH = 32;
    private static final long PIECE_BYTES = 64L << 20;
    /** The pieces that 4 GB/s set in two seconds. */
    private static final int PIECES = (int) (8_000_000_000L / PIECE_BYTES);

    @TempDir
    Path folder;

    private RunningExecutor begin() throws Exception {
        RunningExecutor executor = new RunningExecutor(folder);
        executor.driver.graphs = true;
        executor.driver.recording = false;
        return executor;
    }

    private static long made(RelayTestClient client, DriverEntry entry, RelayTestClient.Argument... arguments) {
        assertEquals(0, client.call(entry, arguments), entry.toString());
        return client.outLong(0);
    }

    private static int addEmpty(RelayTestClient client, long graph) {
        return client.call(DriverEntry.cuGraphAddEmptyNode, outBytes(8), value(graph), value(0), value(0));
    }

    private static int addChild(RelayTestClient client, long graph, long child) {
        return client.call(DriverEntry.cuGraphAddChildGraphNode, outBytes(8), value(graph), value(0), value(0), value(child));
    }

    private static long graph(RelayTestClient client) {
        return made(client, DriverEntry.cuGraphCreate, outBytes(8), value(0));
    }

    /** Each graph has the one before it twice: sixteen calls ask for as many nodes as one graph may have. */
    @Test
    void childrenCountAsWhatTheyAre() throws Exception {
        try (RunningExecutor executor = begin(); RelayTestClient client = executor.client("a", 0); RelayTestClient other = executor.client("b", 0)) {
            long graph = graph(client);
            assertEquals(0, addEmpty(client, graph));
            int result = 0;
            int doublings = 0;
            while (result == 0) {
                long larger = graph(client);
                result = addChild(client, larger, graph);
                result = result == 0 ? addChild(client, larger, graph) : result;
                graph = larger;
                doublings++;
            }
            assertEquals(CudaResult.OUT_OF_MEMORY, result);
            assertTrue(doublings < 17, doublings + " doublings");
            assertTrue(client.segment().notices().contains("65536 nodes with those of its children"), client.segment().notices());
            assertEquals(0, addEmpty(other, graph(other)), "another tenant has all it may have");
        }
    }

    private static int move(RelayTestClient client, long graph, long child) {
        ByteBuffer node = ByteBuffer.allocate(CUgraphNodeParams.BYTES).order(ByteOrder.nativeOrder());
        node.putInt(CUgraphNodeParams.type, GraphNodeType.GRAPH).putLong(NodeStructures.BODY, child)
                .putInt(NodeStructures.BODY + CUDA_CHILD_GRAPH_NODE_PARAMS.ownership, ChildGraphOwnership.MOVE);
        return client.call(DriverEntry.cuGraphAddNode_v2, outBytes(8), value(graph), value(0), value(0), value(0), filledOut(node.array()));
    }

    /** Drivers copy a graph without end that is to be part of itself. */
    @Test
    void aGraphIsNoPartOfItself() throws Exception {
        try (RunningExecutor executor = begin(); RelayTestClient client = executor.client("a", 0)) {
            long graph = graph(client);
            assertEquals(CudaResult.INVALID_VALUE, addChild(client, graph, graph));
            assertEquals(CudaResult.INVALID_VALUE, move(client, graph, graph));
            long part = graph(client);
            assertEquals(0, move(client, graph, part));
            assertEquals(CudaResult.INVALID_VALUE, addChild(client, part, graph));
            assertEquals(CudaResult.INVALID_VALUE, move(client, part, graph));
            assertEquals(0, addChild(client, graph(client), graph));
        }
    }

    /** A moved graph is counted once, and the driver's object is never destroyed twice. */
    @Test
    void aGraphThatWasMovedEndsWithTheOneAroundIt() throws Exception {
        try (RunningExecutor executor = begin()) {
            try (RelayTestClient client = executor.client("a", 0)) {
                long graph = graph(client);
                long part = graph(client);
                assertEquals(0, addEmpty(client, part));
                assertEquals(0, move(client, graph, part));
                assertEquals(0, addEmpty(client, part), "it is there");
                assertEquals(CudaResult.NOT_PERMITTED, client.call(DriverEntry.cuGraphDestroy, value(part)));
                assertEquals(CudaResult.INVALID_VALUE, move(client, graph(client), part), "it has moved already");
                assertEquals(0, client.call(DriverEntry.cuGraphDestroy, value(graph)));
                assertEquals(CudaResult.INVALID_HANDLE, addEmpty(client, part));
                assertEquals(0, move(client, graph(client), graph(client)), "for the end of the client");
                client.disconnect();
            }
            RelayTestClient.await(() -> executor.driver.graphSizes.alive() == 0, "the end of all graphs");
            assertEquals(0, executor.driver.graphSizes.endedTwice());
        }
    }

    @Test
    void copiesAndExecutableGraphsCountAndAreGivenBack() throws Exception {
        try (RunningExecutor executor = begin(); RelayTestClient client = executor.client("a", 0)) {
            long graph = graph(client);
            assertEquals(0, addEmpty(client, graph));
            for (int i = 1; i < 16_384; i++) { // each after the one before: one branch
                byte[] before = ByteBuffer.allocate(8).order(ByteOrder.nativeOrder()).putLong(client.outLong(0)).array();
                assertEquals(0, client.call(DriverEntry.cuGraphAddEmptyNode, outBytes(8), value(graph), in(before), value(1)));
            }
            int first = 0;
            for (int round = 0; round < 3; round++) {
                List<Long> copies = new ArrayList<>();
                List<Long> executables = new ArrayList<>();
                while (client.call(DriverEntry.cuGraphInstantiateWithFlags, outBytes(8), value(graph), value(0)) == 0) {
                    executables.add(client.outLong(0));
                    if (client.call(DriverEntry.cuGraphClone, outBytes(8), value(graph)) == 0) {
                        copies.add(client.outLong(0));
                    }
                }
                assertEquals(CudaResult.OUT_OF_MEMORY, client.call(DriverEntry.cuGraphClone, outBytes(8), value(graph)));
                int made = copies.size() + executables.size();
                first = round == 0 ? made : first;
                assertEquals(first, made, "what was destroyed is given back");
                assertTrue(made > 2 && made < 129, made + " of 16,384 nodes each");
                executables.forEach(each -> assertEquals(0, client.call(DriverEntry.cuGraphExecDestroy, value(each))));
                copies.forEach(each -> assertEquals(0, client.call(DriverEntry.cuGraphDestroy, value(each))));
            }
        }
    }

    @Test
    void graphsLieInGraphsSoDeepAndNoDeeper() throws Exception {
        try (RunningExecutor executor = begin(); RelayTestClient client = executor.client("a", 0)) {
            long graph = graph(client);
            int depth = 1;
            for (int result = 0; result == 0; depth++) {
                long around = graph(client);
                result = addChild(client, around, graph);
                graph = around;
            }
            assertEquals(MOST_DEPTH + 1, depth);
            assertTrue(
                    client.segment().notices()
                            .contains("graphs lie in graphs 32 deep at most; add the nodes of the innermost ones to the graphs around them"),
                    client.segment().notices());
        }
    }

    /** A node that goes takes away what it was, so a program that adds and removes for ever never ends at a bound. */
    @Test
    void nodesThatGoAreGivenBack() throws Exception {
        try (RunningExecutor executor = begin(); RelayTestClient client = executor.client("a", 0)) {
            long large = graph(client);
            assertEquals(0, addEmpty(client, large));
            for (int i = 0; i < 12; i++) {
                long larger = graph(client);
                assertEquals(0, addChild(client, larger, large));
                assertEquals(0, addChild(client, larger, large));
                large = larger;
            }
            long around = graph(client);
            for (int i = 0; i < 300; i++) {
                long node = made(client, DriverEntry.cuGraphAddChildGraphNode, outBytes(8), value(around), value(0), value(0), value(large));
                assertEquals(0, client.call(DriverEntry.cuGraphDestroyNode, value(node)));
            }
        }
    }

    /** No word ends them, as it ends kernels: this much of a graph takes two seconds (at 4 GB/s, as of a device in software). */
    @Test
    void whatAGraphCopiesAndSetsHasABound() throws Exception {
        try (RunningExecutor executor = begin(); RelayTestClient client = executor.client("a", 0)) {
            assertEquals(0, client.call(DriverEntry.cuMemAlloc_v2, outBytes(8), value(PIECE_BYTES)));
            long memory = client.outLong(0);
            long graph = graph(client);
            assertEquals(PIECES, added(client, graph, DriverEntry.cuGraphAddMemsetNode, memset(memory)));
            assertTrue(client.segment().notices().contains("copies and memsets of a graph"), client.segment().notices());
            assertEquals(0, addEmpty(client, graph), "what moves nothing");
            long copies = graph(client);
            assertEquals(PIECES, added(client, copies, DriverEntry.cuGraphAddMemcpyNode, copy(memory)), "half as many bytes, read and written");
            long around = graph(client);
            assertEquals(0, addChild(client, around, copies));
            assertEquals(CudaResult.OUT_OF_MEMORY, addChild(client, around, graph), "together they are too long");
        }
    }

    private static int added(RelayTestClient client, long graph, DriverEntry entry, byte[] node) {
        int nodes = 0;
        while (client.call(entry, outBytes(8), value(graph), value(0), value(0), in(node), value(0)) == 0) {
            nodes++;
        }
        return nodes;
    }

    private static byte[] memset(long address) {
        return ByteBuffer.allocate(40).order(ByteOrder.nativeOrder()).putLong(address).putLong(0).putInt(7).putInt(1).putLong(PIECE_BYTES).putLong(1)
                .array();
    }

    /** From the first half to the second. */
    private static byte[] copy(long address) {
        ByteBuffer copy = ByteBuffer.allocate(200).order(ByteOrder.nativeOrder());
        copy.putInt(32, 2).putLong(48, address).putInt(88 + 32, 2).putLong(88 + 48, address + PIECE_BYTES / 2);
        return copy.putLong(176, PIECE_BYTES / 2).putLong(184, 1).putLong(192, 1).array();
    }

    /** Kernels that would end it cannot: behind fences they set no conditions. */
    @Test
    void loopsInGraphsAreRefusedAndBranchesAreNot() throws Exception {
        try (RunningExecutor executor = begin(); RelayTestClient client = executor.client("a", 0)) {
            long graph = graph(client);
            assertEquals(0, client.call(DriverEntry.cuGraphConditionalHandleCreate, outBytes(8), value(graph), value(0), value(1), value(1)));
            long condition = client.outLong(0);
            for (int type = 0; type < 2; type++) {
                byte[] node = ByteBuffer.allocate(264).order(ByteOrder.nativeOrder()).putInt(0, 13).putLong(16, condition).putInt(24, type)
                        .putInt(28, 1).array();
                executor.driver.calls.clear();
                executor.driver.recording = true;
                int result = client.call(DriverEntry.cuGraphAddNode_v2, outBytes(8), value(graph), value(0), value(0), value(0), filledOut(node));
                assertEquals(type == 1, result == 801, "type " + type + ": " + result);
                assertEquals(type == 0, executor.driver.calls.contains("cuGraphAddNode_v2"));
            }
            assertTrue(client.segment().notices().contains(
                    "a loop in a graph (kernels behind fences set no conditions, so nothing would end it) is not supported in space sharing; run the program with --share time"),
                    client.segment().notices());
        }
    }

    @Test
    void contextsHaveABoundToo() throws Exception {
        try (RunningExecutor executor = begin(); RelayTestClient client = executor.client("a", 0)) {
            int result = 0;
            int number = 2;
            while (result == 0 && number < 10_000) {
                result = client.context(number++, RelayLayout.CONTEXT_CREATE);
            }
            assertEquals(CudaResult.OUT_OF_MEMORY, result);
            assertEquals(Countable.CONTEXT.most() + 2, number, "one is the client's first");
        }
    }
}
