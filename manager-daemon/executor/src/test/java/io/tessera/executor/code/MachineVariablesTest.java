package io.tessera.executor.code;

import static io.tessera.executor.client.RelayTestClient.in;
import static io.tessera.executor.client.RelayTestClient.outBytes;
import static io.tessera.executor.client.RelayTestClient.text;
import static io.tessera.executor.client.RelayTestClient.value;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.RunningExecutor;
import io.tessera.executor.client.RelayTestClient;
import io.tessera.executor.fence.hang.FenceSettings;
import io.tessera.executor.fence.program.TrustedImages;
import io.tessera.guardian.image.ModuleImage;
import io.tessera.guardian.machine.CodeWords;
import io.tessera.guardian.machine.CubinBuilder;
import io.tessera.protocol.FenceChoice;
import io.tessera.protocol.UnfencedPolicy;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Variables of machine code lie in the client's window, as those of PTX do. */
@Timeout(300)
class MachineVariablesTest {
    private static final int OTHER_USER = 54_321;
    private static final long CONTROL = 0x000fe20000000000L;
    private static final String INITIAL = ".nv.global.init";
    private static final String ZERO = ".nv.global";
    private static final String BANK = ".nv.constant4";
    private static final int NO_BITS = 8;
    private static final int ADDRESS = 2;
    private static final int ZERO_BYTES = 64 << 10;
    private static final long LIMIT_BYTES = 4 << 20;
    /** Loads that need more memory than the limit. */
    private static final int LOADS = 80;

    private static final byte[] CUBIN = cubin();

    @TempDir
    Path folder;

    /** Returns a kernel that loads from {@code counter}, which follows an unused variable, and from {@code zeros}. */
    private static byte[] cubin() {
        CodeWords code = new CodeWords();
        for (int i = 0; i < 2; i++) { // LDC.64 R2, c[0x4][8 * i]
            code.add(0xff027b82L | 8L * i << 38 | 4L << 54, CONTROL | 0xa00).load(12, 2);
        }
        return CubinBuilder.of("k", code.exit()).section(INITIAL, 1, 3, new byte[] {9, 9, 9, 9, 9, 9, 9, 9, 5, 0, 0, 0, 0, 0, 0, 0})
                .section(ZERO, NO_BITS, 3, new byte[ZERO_BYTES]).section(BANK, 1, 2, new byte[16])
                .variable("unused", INITIAL, 0, 8, 0).variable("counter", INITIAL, 8, 8, 0).variable("zeros", ZERO, 0, ZERO_BYTES, 0)
                .relocation(BANK, 0, ADDRESS, 3, 0).relocation(BANK, 8, ADDRESS, 4, 0).build();
    }

    private RunningExecutor executor() throws Exception {
        return RunningExecutor.ofMachineCode(folder, new TrustedImages() {
            @Override
            public boolean mayRunAsItIs(ModuleImage image) {
                return false;
            }

            @Override
            public boolean isVendors(String hash) {
                return false;
            }
        });
    }

    private static RelayTestClient client(RunningExecutor executor) throws Exception {
        return executor.client("a", LIMIT_BYTES, new FenceSettings(FenceChoice.MASK, UnfencedPolicy.OWN, true, 0, 0));
    }

    private static int load(RelayTestClient client) {
        return client.call(DriverEntry.cuModuleLoadDataEx, outBytes(8), in(CUBIN), value(0), value(0), value(0));
    }

    private static int global(RelayTestClient client, long module, String name) {
        return client.call(DriverEntry.cuModuleGetGlobal_v2, outBytes(8), outBytes(8), value(module), text(name));
    }

    @Test
    void theyHoldWhatTheyHeldAndAreMemoryOfTheClient() throws Exception {
        try (RunningExecutor executor = executor(); RelayTestClient client = client(executor)) {
            assertNotNull(executor.presence().enter("other", OTHER_USER, () -> {}), "another user's program");
            assertEquals(0, load(client));
            long module = client.outLong(0);
            assertEquals(0, global(client, module, "counter"));
            long counter = client.outLong(0);
            assertEquals(8, client.outLong(8));
            assertEquals(5, executor.driver.pages.getLong(counter));
            assertEquals(0, client.call(DriverEntry.cuMemAlloc_v2, outBytes(8), value(1 << 20)));
            assertEquals(client.outLong(0) >>> 37, counter >>> 37, "in the same window");
            assertEquals(0, global(client, module, "zeros"));
            assertEquals(ZERO_BYTES, client.outLong(8));
            assertEquals(0, executor.driver.pages.getLong(client.outLong(0) + ZERO_BYTES - 8));
            assertEquals(0,
                    client.call(DriverEntry.cuMemcpyHtoDAsync_v2, value(counter), in(new byte[] {7, 0, 0, 0, 0, 0, 0, 0}), value(8), value(0)));
            assertEquals(0, client.call(DriverEntry.cuModuleGetFunction, outBytes(8), value(module), text("k")));
            client.launch(client.outLong(0), 0, new byte[16]);
            client.synchronise(0, 1, client.segment().word(1) + 1);
            assertEquals(0, client.segment().takeCallError(), "beside another user's program");
            assertEquals(0, client.call(DriverEntry.cuModuleUnload, value(module)));
            assertNotEquals(0, global(client, module, "counter"));
        }
    }

    @Test
    void whatIsUnloadedOrNotLoadedGivesItsMemoryBack() throws Exception {
        try (RunningExecutor executor = executor(); RelayTestClient client = client(executor)) {
            for (int i = 0; i < LOADS; i++) {
                assertEquals(0, load(client), "load " + i);
                assertEquals(0, client.call(DriverEntry.cuModuleUnload, value(client.outLong(0))));
            }
            executor.driver.lost = CudaResult.NO_BINARY_FOR_GPU;
            for (int i = 0; i < LOADS; i++) {
                assertEquals(CudaResult.NO_BINARY_FOR_GPU, load(client), "load " + i);
            }
            executor.driver.lost = 0;
            assertEquals(0, load(client));
        }
    }

    @Test
    void withoutMemoryForThemAnImageIsNotLoaded() throws Exception {
        try (RunningExecutor executor = executor(); RelayTestClient client = client(executor)) {
            int result = 0;
            for (int i = 0; i < LOADS && result == 0; i++) {
                result = load(client);
            }
            assertEquals(CudaResult.OUT_OF_MEMORY, result);
        }
    }
}
