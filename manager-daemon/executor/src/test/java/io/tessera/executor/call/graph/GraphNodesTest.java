package io.tessera.executor.call.graph;

import static io.tessera.executor.client.RelayTestClient.in;
import static io.tessera.executor.client.RelayTestClient.outBytes;
import static io.tessera.executor.client.RelayTestClient.value;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.RunningExecutor;
import io.tessera.executor.client.RelayTestClient;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What is checked of graph nodes before the driver sees them; what they do is shown by programs on the software GPU. */
@Timeout(180)
class GraphNodesTest {

    @TempDir
    Path folder;

    /** CUDA_MEMSET_NODE_PARAMS of 4-byte elements. */
    private static byte[] memset(long address, long pitch, long width, long height) {
        MemorySegment node = MemorySegment.ofArray(new long[5]);
        node.set(ValueLayout.JAVA_LONG, 0, address);
        node.set(ValueLayout.JAVA_LONG, 8, pitch);
        node.set(ValueLayout.JAVA_INT, 20, 4);
        node.set(ValueLayout.JAVA_LONG, 24, width);
        node.set(ValueLayout.JAVA_LONG, 32, height);
        return node.toArray(ValueLayout.JAVA_BYTE);
    }

    private static int add(RelayTestClient client, byte[] node) {
        return client.call(DriverEntry.cuGraphAddMemsetNode, outBytes(8), value(0), value(0), value(0), in(node), value(0));
    }

    private static byte[] hostNode(long word) {
        return MemorySegment.ofArray(new long[] {0, word}).toArray(ValueLayout.JAVA_BYTE);
    }

    @Test
    void memsetsAreTheClientsOwnToTheirLastByte() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0);
                RelayTestClient other = executor.client("b", 0)) {
            assertEquals(0, client.call(DriverEntry.cuMemAlloc_v2, outBytes(8), value(256)));
            long mine = client.outLong(0);
            assertEquals(0, add(client, memset(mine, 64, 16, 4)));
            assertEquals(CudaResult.INVALID_VALUE, add(client, memset(mine, 64, 17, 4)), "the last row is too long");
            assertEquals(CudaResult.INVALID_VALUE, add(client, memset(mine, 96, 16, 4)), "the last row begins too late");
            assertEquals(CudaResult.INVALID_VALUE, add(client, memset(mine, 64, Long.MAX_VALUE / 4, 4)));
            assertEquals(CudaResult.INVALID_VALUE, add(other, memset(mine, 64, 1, 1)), "another client's memory");
        }
    }

    @Test
    void aHostNodeIsMemoryOperationsOnAWordOfTheClient() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0)) {
            assertEquals(CudaResult.INVALID_VALUE, client.call(DriverEntry.cuGraphAddHostNode, outBytes(8), value(0), value(0),
                    value(0), in(hostNode(1 << 14))), "no such word");
            assertFalse(executor.driver.calls.contains("cuGraphAddBatchMemOpNode"));
            assertEquals(0, client.call(DriverEntry.cuGraphAddHostNode, outBytes(8), value(0), value(0), value(0),
                    in(hostNode(5))));
            assertTrue(executor.driver.calls.contains("cuGraphAddBatchMemOpNode"));
            assertFalse(executor.driver.calls.contains("cuGraphAddHostNode"), "no function of ours runs for a client");
        }
    }

    @Test
    void whatFollowsAStructureIsCounted() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0)) {
            MemorySegment operations = MemorySegment.ofArray(new long[4 + 6]);
            operations.set(ValueLayout.JAVA_INT, 8, 2); // operations, of which one follows
            operations.set(ValueLayout.JAVA_INT, 32, 3); // CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES, without an address
            assertEquals(CudaResult.INVALID_VALUE, client.call(DriverEntry.cuGraphAddBatchMemOpNode, outBytes(8), value(0), value(0),
                    value(0), in(operations.toArray(ValueLayout.JAVA_BYTE))));
            operations.set(ValueLayout.JAVA_INT, 8, 1);
            assertEquals(0, client.call(DriverEntry.cuGraphAddBatchMemOpNode, outBytes(8), value(0), value(0), value(0),
                    in(operations.toArray(ValueLayout.JAVA_BYTE))));
        }
    }
}
