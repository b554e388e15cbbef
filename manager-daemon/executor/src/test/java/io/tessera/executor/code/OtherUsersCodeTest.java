package io.tessera.executor.code;

import static io.tessera.executor.client.RelayTestClient.in;
import static io.tessera.executor.client.RelayTestClient.outBytes;
import static io.tessera.executor.client.RelayTestClient.text;
import static io.tessera.executor.client.RelayTestClient.value;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.RunningExecutor;
import io.tessera.executor.client.RelayTestClient;
import io.tessera.executor.fence.hang.FenceSettings;
import io.tessera.executor.fence.hang.TenantPresence;
import io.tessera.executor.fence.program.TrustedImages;
import io.tessera.guardian.image.ModuleImage;
import io.tessera.guardian.machine.CodeWords;
import io.tessera.guardian.machine.CubinBuilder;
import io.tessera.protocol.FenceChoice;
import io.tessera.protocol.UnfencedPolicy;
import io.tessera.protocol.relay.QueryKind;
import io.tessera.protocol.relay.RelayLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Machine code of a program while another user's program is in the executor: each way to run a kernel passes the same decision. */
@Timeout(180)
class OtherUsersCodeTest {
    private static final int OTHER_USER = 54_321;
    private static final long CONTROL = 0x000fe20000000000L;
    /** {@code TLD}: a kernel with a texture has no fence. */
    private static final long TEXTURE = 0x00000000ff007f66L;
    private static final String MAP = "00705634127f0000c003000010000000000200000020000000000100000000003f0000001f0000000f0000000700000003000000000000070301010000000000";
    private static final int MAP_BYTES = 128;
    private static final int NODE_BYTES = 72;
    private static final int CLUSTER_DIMENSION = 4;
    private static final byte[] NOTHING = new byte[16];
    private static final byte[] CODE = CubinBuilder.of("plain", new CodeWords().load(12, 2).exit())
            .kernel("open", 29, new CodeWords().add(TEXTURE, 0x000e220000000000L | 1L << 27).exit())
            .kernel("returns", 29, new CodeWords().move(20, 0x20).call(3).exit().returnBy(20))
            .kernel("copies", 29, new CodeWords().add(0x0000660000047ab9L, CONTROL | 0xa00L).add(0x00000008040075b4L, CONTROL | 0x08008000L).exit())
            .attribute("copies", 0x0a, 0, 0x400210).build();

    @TempDir
    Path folder;

    private static TrustedImages vendors(byte[]... cubins) {
        return new TrustedImages() {
            @Override
            public boolean mayRunAsItIs(ModuleImage image) {
                return false;
            }

            @Override
            public boolean isVendors(String hash) {
                return Arrays.stream(cubins).anyMatch(cubin -> ModuleImage.of(cubin).hash().equals(hash));
            }
        };
    }

    private RunningExecutor ofUnknown() throws Exception {
        return RunningExecutor.ofMachineCode(folder, vendors());
    }

    private static RelayTestClient client(RunningExecutor executor) throws Exception {
        return executor.client("a", 0, new FenceSettings(FenceChoice.MASK, UnfencedPolicy.OWN, true, 0, 0));
    }

    /** A program of another user. */
    private static TenantPresence.Member other(RunningExecutor executor) {
        return executor.presence().enter("other", OTHER_USER, () -> {});
    }

    private static int load(RelayTestClient client, byte[] image) {
        return client.call(DriverEntry.cuModuleLoadDataEx, outBytes(8), in(image), value(0), value(0), value(0));
    }

    private static long module(RelayTestClient client) {
        assertEquals(0, load(client, CODE));
        return client.outLong(0);
    }

    private static long function(RelayTestClient client, long module, String name) {
        assertEquals(0, client.call(DriverEntry.cuModuleGetFunction, outBytes(8), value(module), text(name)));
        return client.outLong(0);
    }

    /** Returns the error that the program finds at its next call. */
    private static int launched(RelayTestClient client, long function, byte[] parameters) {
        client.launch(function, 0, parameters);
        return settled(client);
    }

    private static int settled(RelayTestClient client) {
        client.synchronise(0, 1, client.segment().word(1) + 1);
        return client.segment().takeCallError();
    }

    /** Parameters with a tensor map that begins at an address. */
    private static byte[] map(long address) {
        MemorySegment map = MemorySegment.ofArray(Arrays.copyOf(HexFormat.of().parseHex(MAP), MAP_BYTES));
        map.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, address);
        return map.toArray(ValueLayout.JAVA_BYTE);
    }

    private static long memory(RelayTestClient client) {
        assertEquals(0, client.call(DriverEntry.cuMemAlloc_v2, outBytes(8), value(1 << 20)));
        return client.outLong(0);
    }

    @Test
    void besideAnotherUserTheKernelsRunThatStayInTheirWindow() throws Exception {
        try (RunningExecutor executor = ofUnknown(); RelayTestClient client = client(executor)) {
            assertNotNull(other(executor));
            long module = module(client);
            assertEquals(0, launched(client, function(client, module, "plain"), NOTHING));
            assertEquals("plain", executor.driver.launched);
            for (String name : new String[] {"open", "returns", "copies"}) {
                long before = executor.driver.launches.get();
                long function = function(client, module, name);
                assertEquals(CudaResult.NO_BINARY_FOR_GPU, launched(client, function, new byte[MAP_BYTES]), name);
                assertEquals(before, executor.driver.launches.get(), name);
                String told = client.segment().notices();
                assertTrue(told.contains("kernel " + name + " may leave its program's memory") && told.contains("--share time"), told);
            }
            RelayTestClient.await(() -> executor.told().contains("\"shown\":1,\"vendors\":0,\"unknown\":0,\"unfenced\":0"), "the figures");
        }
    }

    @Test
    void aVendorsCodeRunsButForWhatHasNoFence() throws Exception {
        try (RunningExecutor executor = RunningExecutor.ofMachineCode(folder, vendors(CODE)); RelayTestClient client = client(executor)) {
            assertNotNull(other(executor));
            long module = module(client);
            assertEquals(0, launched(client, function(client, module, "returns"), NOTHING));
            assertEquals(0, launched(client, function(client, module, "copies"), map(memory(client))));
            assertEquals(CudaResult.NO_BINARY_FOR_GPU, launched(client, function(client, module, "open"), NOTHING));
            RelayTestClient.await(() -> executor.told().contains("\"shown\":0,\"vendors\":1,\"unknown\":0,\"unfenced\":0"), "the figures");
        }
    }

    @Test
    void aTensorMapThatLeavesTheWindowRefusesItsLaunch() throws Exception {
        try (RunningExecutor executor = RunningExecutor.ofMachineCode(folder, vendors(CODE)); RelayTestClient client = client(executor)) {
            long function = function(client, module(client), "copies");
            long own = memory(client);
            TenantPresence.Member other = other(executor);
            assertEquals(CudaResult.NO_BINARY_FOR_GPU, launched(client, function, map(0x7f12_0000_0000L)));
            assertTrue(client.segment().notices().contains("it is given a tensor map that leads out"), client.segment().notices());
            assertEquals(0, launched(client, function, map(own)), "the next launch has another one");
            executor.presence().leave(other);
            assertEquals(0, launched(client, function, map(0x7f12_0000_0000L)));
            assertNull(other(executor));
        }
    }

    /** As programs do before their first launch: the call that launches gets the error at once. */
    @Test
    void whoAsksForAKernelThatDoesNotRunIsToldSo() throws Exception {
        try (RunningExecutor executor = ofUnknown(); RelayTestClient client = client(executor)) {
            long module = module(client);
            long plain = function(client, module, "plain");
            long returns = function(client, module, "returns");
            TenantPresence.Member other = other(executor);
            assertEquals(0, client.query(QueryKind.FUNCTION, plain));
            assertEquals(CudaResult.NO_BINARY_FOR_GPU, client.query(QueryKind.FUNCTION, returns));
            executor.presence().leave(other);
            assertEquals(0, client.query(QueryKind.FUNCTION, returns));
            assertNotNull(other(executor), "it was only asked for");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"open", "returns"})
    void aKernelThatMayLeaveKeepsAnotherUserOutUntilItsModuleGoes(String name) throws Exception {
        try (RunningExecutor executor = ofUnknown(); RelayTestClient client = client(executor)) {
            long module = module(client);
            long function = function(client, module, name);
            TenantPresence.Member early = other(executor);
            assertNotNull(early, "nothing has run");
            assertEquals(CudaResult.NO_BINARY_FOR_GPU, launched(client, function, NOTHING));
            executor.presence().leave(early);
            assertEquals(0, launched(client, function, NOTHING));
            assertNull(other(executor));
            assertEquals(0, client.call(DriverEntry.cuModuleUnload, value(module)));
            TenantPresence.Member late = other(executor);
            assertNotNull(late);
            RelayTestClient.await(() -> executor.presence().isSettled(late), "the end of what ran");
        }
    }

    @Test
    void anotherUsersProgramIsRefusedByTheSocketToo() throws Exception {
        try (RunningExecutor executor = ofUnknown()) {
            TenantPresence.Member other = other(executor);
            assertTrue(other.keepOthersOut());
            String why = assertThrows(IllegalStateException.class, () -> client(executor)).getMessage();
            assertTrue(why.contains("another user's program runs machine code that may leave its memory"), why);
        }
    }

    private static byte[] node(long kernel) {
        MemorySegment node = MemorySegment.ofArray(new long[(NODE_BYTES + NOTHING.length) / Long.BYTES]);
        node.set(ValueLayout.JAVA_LONG, 0, kernel);
        for (int i = 0; i < 6; i++) {
            node.set(ValueLayout.JAVA_INT, 8 + 4L * i, 1);
        }
        return node.toArray(ValueLayout.JAVA_BYTE);
    }

    private static int addNode(RelayTestClient client, long kernel) {
        return client.call(DriverEntry.cuGraphAddKernelNode_v2, outBytes(8), value(0), value(0), value(0), in(node(kernel)));
    }

    @Test
    void aNodeOfAGraphGoesThroughTheSameDecision() throws Exception {
        try (RunningExecutor executor = ofUnknown(); RelayTestClient client = client(executor)) {
            long module = module(client);
            long plain = function(client, module, "plain");
            long returns = function(client, module, "returns");
            TenantPresence.Member other = other(executor);
            assertEquals(0, addNode(client, plain));
            long node = client.outLong(0);
            assertEquals(CudaResult.NO_BINARY_FOR_GPU, addNode(client, returns));
            assertEquals(CudaResult.NO_BINARY_FOR_GPU, client.call(DriverEntry.cuGraphKernelNodeSetParams_v2, value(node), in(node(returns))));
            assertEquals(CudaResult.NO_BINARY_FOR_GPU,
                    client.call(DriverEntry.cuGraphExecKernelNodeSetParams_v2, value(0), value(node), in(node(returns))));
            executor.presence().leave(other);
            assertEquals(0, addNode(client, returns));
            assertNull(other(executor), "the graph may be launched at any time");
        }
    }

    @Test
    void aLaunchThatIsCapturedKeepsOthersOutToo() throws Exception {
        try (RunningExecutor executor = ofUnknown(); RelayTestClient client = client(executor)) {
            long function = function(client, module(client), "returns");
            executor.driver.capturing = true;
            TenantPresence.Member other = other(executor);
            client.launch(function, 0, NOTHING);
            RelayTestClient.await(() -> client.segment().notices().contains("kernel returns"), "the refusal");
            executor.presence().leave(other);
            client.launch(function, 0, NOTHING);
            RelayTestClient.await(() -> executor.driver.launches.get() == 1, "the launch");
            assertNull(other(executor), "the graph may be launched at any time");
            executor.driver.capturing = false;
        }
    }

    @Test
    void cooperativeLaunchesAndClustersGoThroughTheSameDecision() throws Exception {
        try (RunningExecutor executor = ofUnknown(); RelayTestClient client = client(executor)) {
            long function = function(client, module(client), "returns");
            assertNotNull(other(executor));
            client.launch(function, 0, NOTHING, 1, RelayLayout.FLAG_COOPERATIVE);
            assertEquals(CudaResult.NO_BINARY_FOR_GPU, settled(client));
            client.launchWith(function, 0, NOTHING, CLUSTER_DIMENSION, 2);
            assertEquals(CudaResult.NO_BINARY_FOR_GPU, settled(client));
            assertEquals(0, executor.driver.launches.get());
        }
    }

    @Test
    void kernelsOfLibrariesGoThroughTheSameDecision() throws Exception {
        try (RunningExecutor executor = ofUnknown(); RelayTestClient client = client(executor)) {
            assertEquals(0,
                    client.call(DriverEntry.cuLibraryLoadData, outBytes(8), in(CODE), value(0), value(0), value(0), value(0), value(0), value(0)));
            long library = client.outLong(0);
            assertNotNull(other(executor));
            for (String name : new String[] {"plain", "open"}) {
                assertEquals(0, client.call(DriverEntry.cuLibraryGetKernel, outBytes(8), value(library), text(name)));
                assertEquals(name.equals("plain") ? 0 : CudaResult.NO_BINARY_FOR_GPU, launched(client, client.outLong(0), NOTHING), name);
            }
            assertEquals(0, client.call(DriverEntry.cuLibraryGetModule, outBytes(8), value(library)));
            long module = client.outLong(0);
            assertEquals(CudaResult.NO_BINARY_FOR_GPU, launched(client, function(client, module, "returns"), NOTHING));
            assertEquals(1, executor.driver.launches.get());
        }
    }

    @Test
    void anImageWithoutFencesIsNotLoadedBesideAnotherUser() throws Exception {
        byte[] older = new CubinBuilder(65, 75).kernel("plain", 29, new CodeWords().exit()).build();
        try (RunningExecutor executor = ofUnknown(); RelayTestClient client = client(executor)) {
            TenantPresence.Member other = other(executor);
            long before = executor.driver.alive("module") + executor.driver.alive("library");
            assertEquals(CudaResult.NO_BINARY_FOR_GPU, load(client, older));
            assertTrue(client.segment().notices().contains("other users' programs share the device, so it is refused"), client.segment().notices());
            assertEquals(before, executor.driver.alive("module") + executor.driver.alive("library"));
            executor.presence().leave(other);
            assertEquals(0, load(client, older));
            long function = function(client, client.outLong(0), "plain");
            assertNotNull(other(executor), "nothing of it has run");
            assertEquals(CudaResult.NO_BINARY_FOR_GPU, launched(client, function, NOTHING));
        }
    }
}
