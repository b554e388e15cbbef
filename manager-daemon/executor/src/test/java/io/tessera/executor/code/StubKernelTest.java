package io.tessera.executor.code;

import static io.tessera.executor.client.RelayTestClient.in;
import static io.tessera.executor.client.RelayTestClient.outBytes;
import static io.tessera.executor.client.RelayTestClient.text;
import static io.tessera.executor.client.RelayTestClient.value;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.RunningExecutor;
import io.tessera.executor.client.RelayTestClient;
import io.tessera.executor.fence.hang.FenceSettings;
import io.tessera.protocol.FenceChoice;
import io.tessera.protocol.UnfencedPolicy;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Libraries' use of kernels that are there to ask the driver about, and of PTX that is there for older GPUs. */
@Timeout(180)
class StubKernelTest {
    /** CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH. */
    private static final int CLUSTER_WIDTH = 11;
    /** CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED. */
    private static final int NON_PORTABLE = 14;
    private static final short PTX_KIND = 1;
    private static final short CUBIN_KIND = 2;
    /** A version beyond the fake driver's generation. */
    private static final int NEW = 2250;
    private static final int HEAD = 16;
    private static final int ENTRY_HEAD = 64;
    private static final byte[] SHARED = """
            .version 8.0
            .target sm_50
            .address_size 64
            .visible .entry work()
            {
                .shared .align 4 .b8 tile[64];
                st.shared.u32 [tile], 1;
                ret;
            }
            """.concat("\0").getBytes(StandardCharsets.US_ASCII);

    @TempDir
    Path folder;

    private static FenceSettings settings(UnfencedPolicy policy) {
        return new FenceSettings(FenceChoice.MASK, policy, true, 0, 0);
    }

    /** Returns PTX for one GPU, and machine code for the fake driver's GPU, which is not read here. */
    private static byte[] fatBinary(int ptxArchitecture) {
        int size = HEAD + 2 * ENTRY_HEAD + SHARED.length + ENTRY_HEAD;
        ByteBuffer image = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
        image.putInt(0, 0xBA55ED50).putShort(4, (short) 1).putShort(6, (short) HEAD).putLong(8, size - HEAD);
        int code = entry(image, HEAD, PTX_KIND, ptxArchitecture, SHARED);
        entry(image, code, CUBIN_KIND, NEW, new byte[ENTRY_HEAD]);
        return image.array();
    }

    private static int entry(ByteBuffer image, int at, short kind, int architecture, byte[] content) {
        image.putShort(at, kind).putInt(at + 4, ENTRY_HEAD).putLong(at + 8, content.length).putInt(at + 28, architecture);
        image.put(at + ENTRY_HEAD, content);
        return at + ENTRY_HEAD + content.length;
    }

    private static int load(RelayTestClient client, byte[] image) {
        return client.call(DriverEntry.cuModuleLoadDataEx, outBytes(8), in(image), value(0), value(0), value(0));
    }

    @Test
    void whatOnlyAllowsClustersIsSetForAnyKernel() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0, settings(UnfencedPolicy.REFUSE))) {
            assertEquals(0, load(client, SHARED));
            assertEquals(0, client.call(DriverEntry.cuModuleGetFunction, outBytes(8), value(client.outLong(0)), text("work")));
            long function = client.outLong(0);
            assertEquals(0, client.call(DriverEntry.cuFuncSetAttribute, value(function), value(NON_PORTABLE), value(1)));
            assertEquals(CudaResult.NOT_SUPPORTED, client.call(DriverEntry.cuFuncSetAttribute, value(function), value(CLUSTER_WIDTH), value(2)),
                    "its shared memory is fenced for blocks that are in no cluster");
        }
    }

    /** CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION and _PREFERRED_CLUSTER_DIMENSION. */
    @ParameterizedTest
    @ValueSource(ints = {4, 11})
    void aKernelThatKnowsOfNoClustersIsLaunchedInNone(int attribute) throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0, settings(UnfencedPolicy.REFUSE))) {
            assertEquals(0, load(client, SHARED));
            assertEquals(0, client.call(DriverEntry.cuModuleGetFunction, outBytes(8), value(client.outLong(0)), text("work")));
            client.launchWith(client.outLong(0), 0, new byte[2 * Long.BYTES], attribute, 2);
            client.synchronise(0, 1, 2);
            assertEquals(0, executor.driver.launches.get());
            assertEquals(CudaResult.NOT_SUPPORTED, client.segment().takeCallError());
        }
    }

    /** A limit of the shared context shrinks for no client, but a client that lowers it reads the value that it set. */
    @Test
    void aLowerLimitIsTheClientsOwn() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0, settings(UnfencedPolicy.REFUSE));
                RelayTestClient other = executor.client("b", 0, settings(UnfencedPolicy.REFUSE))) {
            assertEquals(0, client.call(DriverEntry.cuCtxSetLimit, value(0), value(512)));
            assertEquals(0, client.call(DriverEntry.cuCtxGetLimit, outBytes(8), value(0)));
            assertEquals(512, client.outLong(0));
            assertEquals(0, other.call(DriverEntry.cuCtxGetLimit, outBytes(8), value(0)));
            assertEquals(1024, other.outLong(0), "the context has what it had");
            assertEquals(0, client.call(DriverEntry.cuCtxSetLimit, value(0), value(1 << 14)));
            assertEquals(0, client.call(DriverEntry.cuCtxGetLimit, outBytes(8), value(0)));
            assertEquals(1024, client.outLong(0), "what this driver took");
        }
    }

    @Test
    void ptxForOlderGpusThanTheMachineCodeDoesNotStandForIt() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0, settings(UnfencedPolicy.REFUSE));
                RelayTestClient trusting = executor.client("b", 0, settings(UnfencedPolicy.OWN))) {
            assertEquals(CudaResult.NO_BINARY_FOR_GPU, load(client, fatBinary(75)));
            assertTrue(client.segment().notices().contains("sm_75"), client.segment().notices());
            assertEquals(0, load(client, fatBinary(NEW)));
            assertEquals(0, load(trusting, fatBinary(75)));
            RelayTestClient.await(() -> executor.told().contains("\"unfenced\":1"), "the count of unfenced images");
        }
    }

    @Test
    void anImageForWhichThereWasNoMemoryIsLoadedLater() throws Exception {
        try (RunningExecutor executor = new RunningExecutor(folder);
                RelayTestClient client = executor.client("a", 0, settings(UnfencedPolicy.REFUSE))) {
            assertEquals(0, load(client, fatBinary(NEW)), "fat binaries are loaded when they are needed");
            long module = client.outLong(0);
            executor.driver.lost = CudaResult.OUT_OF_MEMORY;
            assertEquals(CudaResult.OUT_OF_MEMORY, function(client, module));
            executor.driver.lost = 0;
            assertEquals(0, function(client, module));
        }
    }

    private static int function(RelayTestClient client, long module) {
        return client.call(DriverEntry.cuModuleGetFunction, outBytes(8), value(module), text("work"));
    }
}
