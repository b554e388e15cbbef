package io.tessera.executor.call.graph;

import static io.tessera.executor.client.RelayTestClient.in;
import static io.tessera.executor.client.RelayTestClient.outBytes;
import static io.tessera.executor.client.RelayTestClient.value;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.RunningExecutor;
import io.tessera.executor.client.RelayTestClient;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A driver holds its lock for the length of a call: no call for one tenant works on so much that others wait for long. */
@Timeout(300)
class GraphCallsTest {
    /** A child of this many nodes, 64 times: as much as a graph may have. */
    private static final int CHILD = 1023;
    private static final int MOST = 65_536;
    /** Branches of an executable graph. */
    private static final int BRANCHES = 1024;
    /** What a destruction may free in one call. */
    private static final int MOST_DESTROYED = 8192;
    private static final int OPERATION_BYTES = 48;
    /** Bytes of the parameters of one node: 250 operations. */
    private static final int LARGE = 12_000;

    @TempDir
    Path folder;
    private RunningExecutor executor;
    private RelayTestClient client;

    @BeforeEach
    void begin() throws Exception {
        executor = new RunningExecutor(folder);
        executor.driver.graphs = true;
        executor.driver.recording = false;
        client = executor.client("a", 0);
    }

    @AfterEach
    void end() {
        client.close();
        executor.close();
    }

    private long made(DriverEntry entry, RelayTestClient.Argument... arguments) {
        assertEquals(0, client.call(entry, arguments), entry.toString());
        return client.outLong(0);
    }

    private long graph() {
        return made(DriverEntry.cuGraphCreate, outBytes(8), value(0));
    }

    private int addEmpty(long graph) {
        return client.call(DriverEntry.cuGraphAddEmptyNode, outBytes(8), value(graph), value(0), value(0));
    }

    private int addAfter(long graph, long before) {
        return client.call(DriverEntry.cuGraphAddEmptyNode, outBytes(8), value(graph), nodes(before), value(1));
    }

    private static RelayTestClient.Argument nodes(long node) {
        return in(ByteBuffer.allocate(8).order(ByteOrder.nativeOrder()).putLong(node).array());
    }

    private int instantiate(long graph) {
        return client.call(DriverEntry.cuGraphInstantiateWithFlags, outBytes(8), value(graph), value(0));
    }

    private int addChild(long graph, long child) {
        return client.call(DriverEntry.cuGraphAddChildGraphNode, outBytes(8), value(graph), value(0), value(0), value(child));
    }

    /** Memory operations that ask for nothing, as many as take this many bytes. */
    private static byte[] operations(int bytes) {
        int count = bytes / OPERATION_BYTES;
        MemorySegment node = MemorySegment.ofArray(new long[4 + 6 * count]);
        node.set(ValueLayout.JAVA_INT, 8, count);
        for (int i = 0; i < count; i++) {
            node.set(ValueLayout.JAVA_INT, 32 + (long) i * OPERATION_BYTES, 3); // CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES
        }
        return node.toArray(ValueLayout.JAVA_BYTE);
    }

    private int addLarge(long graph, int bytes) {
        return client.call(DriverEntry.cuGraphAddBatchMemOpNode, outBytes(8), value(graph), value(0), value(0), in(operations(bytes)));
    }

    private long childOf(int nodes) {
        long child = graph();
        long before = 0;
        for (int i = 0; i < nodes; i++) {
            assertEquals(0, before == 0 ? addEmpty(child) : addAfter(child, before));
            before = client.outLong(0);
        }
        return child;
    }

    @Test
    void aGraphHasSoManyNodesAndNoCallWorksOnMore() {
        long child = childOf(CHILD);
        long graph = graph();
        int result = 0;
        for (int i = 0; i < 256 && result == 0; i++) {
            result = addChild(graph, child);
        }
        assertEquals(CudaResult.OUT_OF_MEMORY, result, "a graph of a quarter of a million nodes");
        long executable = made(DriverEntry.cuGraphInstantiateWithFlags, outBytes(8), value(graph), value(0));
        assertEquals(0, client.call(DriverEntry.cuGraphExecDestroy, value(executable)), "the tenant has no memory for both");
        assertEquals(0, client.call(DriverEntry.cuGraphClone, outBytes(8), value(graph)));
        assertTrue(executor.driver.graphSizes.mostNodes() <= MOST, executor.driver.graphSizes.longestCall());
        assertEquals(MOST, executor.driver.graphSizes.mostNodes(), "64 children and their nodes are what a graph may have");
    }

    /** A driver needs more time for branches than for nodes, and more the more of them there are. */
    @Test
    void branchesOfAnExecutableGraphHaveABound() {
        long wide = graph();
        for (int i = 0; i < BRANCHES; i++) {
            assertEquals(0, addEmpty(wide));
        }
        assertEquals(0, instantiate(wide));
        assertEquals(0, addEmpty(wide));
        assertEquals(CudaResult.OUT_OF_MEMORY, instantiate(wide), "one branch more");
        assertTrue(client.segment().notices().contains("may have 1024 branches beside each other"), client.segment().notices());
    }

    @Test
    void branchesThatPartLaterCountAsWell() {
        long fan = graph();
        assertEquals(0, addEmpty(fan));
        long first = client.outLong(0);
        for (int i = 0; i <= BRANCHES; i++) {
            assertEquals(0, addAfter(fan, first));
        }
        assertEquals(CudaResult.OUT_OF_MEMORY, instantiate(fan));
    }

    @Test
    void aChainIsOneBranchAlsoAsAChild() {
        long chain = childOf(4 * BRANCHES);
        assertEquals(0, instantiate(chain));
        long around = graph();
        assertEquals(0, addChild(around, chain));
        assertEquals(0, instantiate(around));
        long wide = graph();
        for (int i = 0; i <= BRANCHES; i++) {
            assertEquals(0, addEmpty(wide));
        }
        long both = graph();
        assertEquals(0, addChild(both, wide));
        assertEquals(CudaResult.OUT_OF_MEMORY, instantiate(both), "children are counted by their branches");
    }

    /** Each executable graph that is there makes the next one dearer. */
    @Test
    void allExecutableGraphsOfATenantHaveSoManyBranches() {
        long wide = graph();
        for (int i = 0; i < BRANCHES; i++) {
            assertEquals(0, addEmpty(wide));
        }
        long last = 0;
        int made = 0;
        while (made < 8 && instantiate(wide) == 0) {
            last = client.outLong(0);
            made++;
        }
        assertEquals(4, made, "4,096 branches beyond one in each");
        assertEquals(0, client.call(DriverEntry.cuGraphExecDestroy, value(last)));
        assertEquals(0, instantiate(wide), "one is gone");
        assertEquals(0, instantiate(childOf(10)), "a chain has no more than one");
    }

    @Test
    void largeGraphsAreDestroyedInPieces() {
        long graph = graph();
        executor.driver.graphSizes.capture(3 * MOST_DESTROYED);
        assertEquals(0, client.call(DriverEntry.cuGraphDestroy, value(graph)));
        assertTrue(executor.driver.graphSizes.mostNodes() <= MOST_DESTROYED, executor.driver.graphSizes.longestCall());
        assertEquals(0, executor.driver.graphSizes.alive());
        assertTrue(client.call(DriverEntry.cuGraphDestroy, value(graph)) != 0, "it is gone");
    }

    @Test
    void soAreThoseOfAClientThatIsGone() throws Exception {
        try (RelayTestClient leaves = executor.client("b", 0)) {
            assertEquals(0, leaves.call(DriverEntry.cuGraphCreate, outBytes(8), value(0)));
            executor.driver.graphSizes.capture(3 * MOST_DESTROYED);
            leaves.disconnect();
        }
        for (int i = 0; i < 6_000 && executor.driver.graphSizes.alive() > 0; i++) {
            Thread.sleep(10);
        }
        assertEquals(0, executor.driver.graphSizes.alive());
        assertTrue(executor.driver.graphSizes.mostNodes() <= MOST_DESTROYED, executor.driver.graphSizes.longestCall());
    }

    @Test
    void parametersOfAGraphHaveABound() {
        long graph = graph();
        int nodes = 0;
        while (nodes < 1000 && addLarge(graph, LARGE) == 0) {
            nodes++;
        }
        assertTrue(nodes > 700 && nodes < 750, nodes + " nodes with 12 KB each");
        assertTrue(client.segment().notices().contains("256 bytes of parameters each and 8 MiB more"), client.segment().notices());
        assertEquals(0, addEmpty(graph), "a node without parameters may come in");
        long around = graph();
        assertEquals(0, addChild(around, graph));
        assertEquals(CudaResult.OUT_OF_MEMORY, addChild(around, graph), "children count");
        assertEquals(0, addLarge(graph(), LARGE), "another graph has its own bound");
    }

    /** The parameters of an executable graph are changed one by one. */
    @Test
    void parametersThatAreChangedInAnExecutableGraphHaveTheSame() {
        long graph = graph();
        long[] nodes = new long[1000];
        for (int i = 0; i < nodes.length; i++) {
            nodes[i] = made(DriverEntry.cuGraphAddBatchMemOpNode, outBytes(8), value(graph), value(0), value(0), in(operations(48)));
        }
        long executable = made(DriverEntry.cuGraphInstantiateWithFlags, outBytes(8), value(graph), value(0));
        int changed = 0;
        int result = 0;
        for (int i = 0; i < nodes.length && result == 0; i++) {
            result = client.call(DriverEntry.cuGraphExecBatchMemOpNodeSetParams, value(executable), value(nodes[i]), in(operations(LARGE)));
            changed += result == 0 ? 1 : 0;
        }
        assertEquals(CudaResult.OUT_OF_MEMORY, result);
        assertTrue(changed > 700 && changed < 750, changed + " nodes with 12 KB each");
        assertEquals(0, client.call(DriverEntry.cuGraphExecBatchMemOpNodeSetParams, value(executable), value(nodes[0]), in(operations(LARGE))),
                "what was changed already may be changed again");
    }

    /** PyTorch and JAX have some 50,000 kernels with some 100 bytes; these have 224. */
    @Test
    void whatFrameworksHaveFits() {
        long part = graph();
        long before = 0;
        for (int i = 0; i < 1000; i++) {
            assertEquals(0, before == 0 ? addLarge(part, 192) : client.call(DriverEntry.cuGraphAddBatchMemOpNode, outBytes(8), value(part),
                    nodes(before), value(1), in(operations(192))));
            before = client.outLong(0);
        }
        long graph = graph();
        for (int i = 0; i < 50; i++) {
            assertEquals(0, addChild(graph, part));
        }
        assertEquals(0, client.call(DriverEntry.cuGraphInstantiateWithFlags, outBytes(8), value(graph), value(0)));
    }

    /** A client that makes one long call after the other leaves others half of the time. */
    @Test
    void whoMakesLongCallsGivesWay() throws Exception {
        long graph = childOf(500);
        executor.driver.graphSizes.nodeNs = 80_000;
        long aloneNs = clones(graph, 5);
        try (RelayTestClient other = executor.client("b", 0)) {
            assertEquals(0, other.call(DriverEntry.cuMemAlloc_v2, outBytes(8), value(256)));
            long besideNs = clones(graph, 5);
            assertTrue(aloneNs >= 200_000_000L && besideNs >= 380_000_000L, aloneNs + " and " + besideNs + " ns");
        }
    }

    private long clones(long graph, int count) {
        long beginNs = System.nanoTime();
        for (int i = 0; i < count; i++) {
            assertEquals(0, client.call(DriverEntry.cuGraphClone, outBytes(8), value(graph)));
        }
        return System.nanoTime() - beginNs;
    }
}
