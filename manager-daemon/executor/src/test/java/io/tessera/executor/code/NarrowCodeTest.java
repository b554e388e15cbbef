package io.tessera.executor.code;

import static io.tessera.executor.client.RelayTestClient.in;
import static io.tessera.executor.client.RelayTestClient.outBytes;
import static io.tessera.executor.client.RelayTestClient.text;
import static io.tessera.executor.client.RelayTestClient.value;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.RunningExecutor;
import io.tessera.executor.client.RelayTestClient;
import io.tessera.executor.fence.hang.FenceSettings;
import io.tessera.executor.fence.program.TrustedImages;
import io.tessera.guardian.machine.CodeWords;
import io.tessera.guardian.machine.CubinBuilder;
import io.tessera.protocol.FenceChoice;
import io.tessera.protocol.UnfencedPolicy;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Machine code runs with the fences of 4 GiB as long as its tenant has nothing beyond. Programs load a module; that code is a library, so that the fake driver tells them apart.
 */
@Timeout(180)
class NarrowCodeTest {
    private static final long CAPACITY = 8L << 30;
    private static final byte[] CODE = CubinBuilder.of("plain", new CodeWords().load(12, 2).exit())
            .build();
    private static final byte[] NOTHING = new byte[16];
    private static final int MAX_DYNAMIC_SHARED_BYTES = 8;

    @TempDir
    Path folder;

    private RunningExecutor executor;
    private RelayTestClient client;
    private long module;
    private long plain;

    @BeforeEach
    void open() throws Exception {
        executor = RunningExecutor.ofMachineCode(folder, TrustedImages.none(), CAPACITY);
        client = program();
        module = module(client);
        plain = function(client, module, "plain");
    }

    @AfterEach
    void close() throws Exception {
        client.close();
        executor.close();
    }

    private RelayTestClient program() throws Exception {
        return executor.client("a", 0, new FenceSettings(FenceChoice.MASK, UnfencedPolicy.OWN, true, 0, 0));
    }

    private static long module(RelayTestClient client) {
        assertEquals(0, client.call(DriverEntry.cuModuleLoadDataEx, outBytes(8), in(CODE), value(0), value(0), value(0)));
        return client.outLong(0);
    }

    private static long function(RelayTestClient client, long module, String name) {
        assertEquals(0, client.call(DriverEntry.cuModuleGetFunction, outBytes(8), value(module), text(name)));
        return client.outLong(0);
    }

    /** Launches, and returns whether the narrow code was taken. */
    private boolean isNarrow(RelayTestClient program, long function) {
        program.launch(function, 0, NOTHING);
        assertEquals(0, settled(program));
        return wasNarrow();
    }

    private boolean wasNarrow() {
        return executor.driver.made("library").contains(executor.driver.launchedOf.get("plain"));
    }

    private static int settled(RelayTestClient program) {
        program.synchronise(0, 1, program.segment().word(1) + 1);
        return program.segment().takeCallError();
    }

    /** Returns the driver's handle of the narrow code. */
    private long awaitNarrow() {
        RelayTestClient.await(() -> isNarrow(client, plain), "the narrow code");
        return executor.driver.launchedOf.get("plain");
    }

    @Test
    void itIsTakenWhenItIsMadeAndGoesWithItsModule() {
        assertTrue(!isNarrow(client, plain), "made when nobody waits for it");
        long narrow = awaitNarrow();
        assertTrue(isNarrow(client, plain));
        assertEquals(narrow, executor.driver.launchedOf.get("plain"), "made once");
        assertFalse(executor.driver.ended.contains(narrow));
        assertEquals(0, client.call(DriverEntry.cuModuleUnload, value(module)));
        assertTrue(executor.driver.ended.contains(narrow));
    }

    @Test
    void itGoesWithItsClient() throws Exception {
        long narrow = awaitNarrow();
        client.disconnect();
        RelayTestClient.await(() -> executor.driver.ended.contains(narrow), "nothing is left");
    }

    @Test
    void aTenantThatIsGivenMoreTakesTheOtherInAllItsPrograms() throws Exception {
        try (RelayTestClient second = program()) {
            long function = function(second, module(second), "plain");
            awaitNarrow();
            RelayTestClient.await(() -> isNarrow(second, function), "the narrow code");
            assertEquals(0, client.call(DriverEntry.cuMemAlloc_v2, outBytes(8), value(3L << 29)));
            assertTrue(isNarrow(client, plain), "1.5 GiB");
            assertEquals(0, client.call(DriverEntry.cuMemAddressReserve, outBytes(8), value(4L << 30), value(0), value(0), value(0)));
            assertTrue(!isNarrow(client, plain) && !isNarrow(second, function));
        }
    }

    @Test
    void graphsHaveTheOther() {
        awaitNarrow();
        assertEquals(0, client.call(DriverEntry.cuStreamCreate, outBytes(8), value(1)));
        long stream = client.outLong(0);
        assertEquals(0, client.call(DriverEntry.cuStreamBeginCapture_v2, value(stream), value(0)));
        executor.driver.capturing = true;
        client.launch(plain, stream, NOTHING);
        RelayTestClient.await(() -> !wasNarrow(), "the captured launch");
        executor.driver.capturing = false;
        assertTrue(isNarrow(client, plain));
    }

    @Test
    void whatTheProgramSetsOfAKernelIsSetOfBoth() {
        awaitNarrow();
        assertTrue(isNarrow(client, plain));
        long calls = executor.driver.calls.size();
        assertTrue(isNarrow(client, plain));
        assertEquals(0,
                executor.driver.calls.stream().skip(calls).filter("cuFuncGetAttribute"::equals).count());
        assertEquals(0, client.call(DriverEntry.cuFuncSetAttribute, value(plain), value(MAX_DYNAMIC_SHARED_BYTES), value(1024)));
        calls = executor.driver.calls.size();
        assertTrue(isNarrow(client, plain));
        assertTrue(
                executor.driver.calls.stream().skip(calls).filter("cuFuncGetAttribute"::equals).count() > 0);
    }

    @Test
    void whoAsksForAVariableThatIsNotInTheWindowKeepsOneCode() {
        awaitNarrow();
        assertEquals(CudaResult.NOT_FOUND, client.call(DriverEntry.cuModuleGetGlobal_v2, outBytes(8), outBytes(8), value(module), text("constant")));
        assertTrue(!isNarrow(client, plain));
        assertTrue(!isNarrow(client, function(client, module, "plain")));
    }
}
