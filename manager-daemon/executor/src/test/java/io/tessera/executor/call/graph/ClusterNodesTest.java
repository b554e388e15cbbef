package io.tessera.executor.call.graph;

import static io.tessera.executor.client.RelayTestClient.in;
import static io.tessera.executor.client.RelayTestClient.outBytes;
import static io.tessera.executor.client.RelayTestClient.text;
import static io.tessera.executor.client.RelayTestClient.value;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.RunningExecutor;
import io.tessera.executor.client.RelayTestClient;
import io.tessera.executor.fence.hang.FenceSettings;
import io.tessera.protocol.FenceChoice;
import io.tessera.protocol.UnfencedPolicy;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A kernel whose shared memory is fenced for a block by itself comes into no cluster by way of a graph's node. */
@Timeout(300)
class ClusterNodesTest {
    private static final int CLUSTER_DIMENSION = 4;
    private static final int NODE_BYTES = 72;
    private static final int ANY_BYTES = 256;
    /** Those that this test's driver says of every kernel. */
    private static final int PARAMETER_BYTES = 16;
    private static final String HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n";
    /** Without shared memory, so it may run in clusters. */
    private static final String KNOWS = HEAD + ".visible .entry work()\n{\nret;\n}\n";
    private static final String KNOWS_NOT = HEAD
            + ".visible .entry work()\n{\n.shared .b32 own;\n.reg .b32 %r<2>;\nst.shared.u32 [own], %r1;\nret;\n}\n";

    @TempDir
    Path folder;
    private RunningExecutor executor;
    private RelayTestClient client;
    private long knows;

    @BeforeEach
    void begin() throws Exception {
        executor = new RunningExecutor(folder);
        client = executor.client("a", 0, new FenceSettings(FenceChoice.MASK, UnfencedPolicy.REFUSE, true, 0, 0));
        knows = kernel(KNOWS);
    }

    @AfterEach
    void end() {
        client.close();
        executor.close();
    }

    private long kernel(String text) {
        assertEquals(0, client.call(DriverEntry.cuModuleLoadDataEx, outBytes(8), in((text + "\0").getBytes(StandardCharsets.US_ASCII)), value(0),
                value(0), value(0)));
        assertEquals(0, client.call(DriverEntry.cuModuleGetFunction, outBytes(8), value(client.outLong(0)), text("work")));
        return client.outLong(0);
    }

    private static byte[] parameters(long kernel) {
        MemorySegment node = MemorySegment.ofArray(new long[(NODE_BYTES + PARAMETER_BYTES) / Long.BYTES]);
        node.set(ValueLayout.JAVA_LONG, 0, kernel);
        for (int i = 0; i < 6; i++) {
            node.set(ValueLayout.JAVA_INT, 8 + 4L * i, 2);
        }
        return node.toArray(ValueLayout.JAVA_BYTE);
    }

    private static byte[] any(long kernel) {
        MemorySegment node = MemorySegment.ofArray(new long[(ANY_BYTES + PARAMETER_BYTES) / Long.BYTES]);
        MemorySegment.copy(MemorySegment.ofArray(parameters(kernel)), 0, node, 16, NODE_BYTES);
        return node.toArray(ValueLayout.JAVA_BYTE);
    }

    private long node(long kernel) {
        assertEquals(0, client.call(DriverEntry.cuGraphAddKernelNode_v2, outBytes(8), value(0), value(0), value(0), in(parameters(kernel))));
        return client.outLong(0);
    }

    private int cluster(long node, int blocks) {
        MemorySegment value = MemorySegment.ofArray(new long[8]);
        for (int i = 0; i < 3; i++) {
            value.set(ValueLayout.JAVA_INT, 4L * i, i == 0 ? blocks : 1);
        }
        return client.call(DriverEntry.cuGraphKernelNodeSetAttribute, value(node), value(CLUSTER_DIMENSION),
                in(value.toArray(ValueLayout.JAVA_BYTE)));
    }

    @Test
    void attributesAreNotCopiedToWhatMayKnowOfNone() {
        long from = node(knows);
        long to = node(knows);
        assertEquals(0, cluster(from, 2));
        assertEquals(0, client.call(DriverEntry.cuGraphKernelNodeCopyAttributes, value(to), value(from)));
        long other = node(kernel(KNOWS_NOT));
        assertEquals(CudaResult.NOT_SUPPORTED, client.call(DriverEntry.cuGraphKernelNodeCopyAttributes, value(other), value(from)));
        assertEquals(CudaResult.NOT_SUPPORTED, cluster(other, 2));
        assertEquals(0, client.call(DriverEntry.cuGraphKernelNodeCopyAttributes, value(to), value(node(knows))), "one of no cluster");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aNodeInAClusterGetsNoKernelThatKnowsOfNone(boolean any) {
        long node = node(knows);
        assertEquals(0, cluster(node, 2));
        long not = kernel(KNOWS_NOT);
        assertEquals(CudaResult.NOT_SUPPORTED, set(any, node, not));
        assertEquals(0, set(any, node, knows));
        assertEquals(0, set(any, node(knows), not), "in no cluster");
    }

    private int set(boolean any, long node, long kernel) {
        return any ? client.call(DriverEntry.cuGraphNodeSetParams, value(node), in(any(kernel)))
                : client.call(DriverEntry.cuGraphKernelNodeSetParams_v2, value(node), in(parameters(kernel)));
    }

    private int setExecutable(boolean any, long node, long kernel) {
        return any ? client.call(DriverEntry.cuGraphExecNodeSetParams, value(0), value(node), in(any(kernel)))
                : client.call(DriverEntry.cuGraphExecKernelNodeSetParams_v2, value(0), value(node), in(parameters(kernel)));
    }

    /** The executable graph has the node as it was when it was made. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void nodesThatWereInClustersCountForExecutableGraphs(boolean any) {
        long node = node(knows);
        assertEquals(0, cluster(node, 2));
        assertEquals(0, cluster(node, 1));
        long not = kernel(KNOWS_NOT);
        assertEquals(0, set(any, node, not));
        assertEquals(CudaResult.NOT_SUPPORTED, setExecutable(any, node, not));
        assertEquals(0, setExecutable(any, node, knows));
        long another = node(knows);
        assertEquals(0, setExecutable(any, another, not));
        client.call(DriverEntry.cuGraphExecUpdate_v2, value(0), value(0), outBytes(32));
        assertEquals(CudaResult.NOT_SUPPORTED, setExecutable(any, another, not), "after an update nobody knows what it has");
    }

    @Test
    void streamsHaveNoClusters() {
        assertEquals(0, client.call(DriverEntry.cuStreamCreate, outBytes(8), value(1)));
        long stream = client.outLong(0);
        byte[] value = new byte[64];
        value[0] = 2;
        assertEquals(CudaResult.INVALID_VALUE, client.call(DriverEntry.cuStreamSetAttribute, value(stream), value(CLUSTER_DIMENSION), in(value)));
        assertEquals(0, client.call(DriverEntry.cuStreamSetAttribute, value(stream), value(3), in(value)));
    }
}
