package io.tessera.executor;

import static io.tessera.executor.client.RelayTestClient.in;
import static io.tessera.executor.client.RelayTestClient.outBytes;
import static io.tessera.executor.client.RelayTestClient.text;
import static io.tessera.executor.client.RelayTestClient.value;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.executor.client.RelayTestClient;
import io.tessera.executor.fence.hang.FenceSettings;
import io.tessera.executor.fence.program.TrustedImages;
import io.tessera.guardian.fence.WindowConstants;
import io.tessera.guardian.image.ModuleImage;
import io.tessera.guardian.machine.CodeWords;
import io.tessera.guardian.machine.CubinBuilder;
import io.tessera.protocol.FenceChoice;
import io.tessera.protocol.UnfencedPolicy;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Kernels without PTX that take too long: those whose loops look at the stop word are told to end by it. */
@Timeout(180)
class EndlessMachineCodeTest {
    /** In the page that only the executor has: 0 once its client's kernels are to end. */
    private static final long STOP = 3072;
    private static final TrustedImages NO_VENDORS = new TrustedImages() {
        @Override
        public boolean mayRunAsItIs(ModuleImage image) {
            return false;
        }

        @Override
        public boolean isVendors(String hash) {
            return false;
        }
    };

    @TempDir
    Path folder;

    private static FenceSettings settings(int timeoutS) {
        return new FenceSettings(FenceChoice.MASK, UnfencedPolicy.OWN, true, timeoutS, timeoutS);
    }

    /** Waits for a word in memory. */
    private static byte[] spinning() {
        return CubinBuilder.of("spin", new CodeWords().load(4, 2).compare(0, 4, 5).branch(0).under(0).exit()).build();
    }

    /** Has a loop in which every register is needed that it has. */
    private static byte[] withoutPlace() {
        CodeWords code = new CodeWords();
        for (int register = 4; register < 30; register++) {
            code.move(register, register);
        }
        int loop = code.count();
        code.compare(0, 4, 5).branch(loop).under(0);
        for (int register = 0; register < 30; register++) {
            code.store(2, register);
        }
        return new CubinBuilder(CubinBuilder.CUDA_13, 90).kernel("spin", 32, code.exit()).build();
    }

    private static long function(RelayTestClient client, byte[] image) {
        assertEquals(0, client.call(DriverEntry.cuModuleLoadDataEx, outBytes(8), in(image), value(0), value(0), value(0)));
        long module = client.outLong(0);
        assertEquals(0, client.call(DriverEntry.cuModuleGetFunction, outBytes(8), value(module), text("spin")));
        return client.outLong(0);
    }

    /** How many pages of the executor tell kernels to go on. */
    private static long going(RunningExecutor executor) {
        return executor.driver.hostPages.stream()
                .filter(page -> MemorySegment.ofAddress(page).reinterpret(4096).get(ValueLayout.JAVA_INT, STOP) == WindowConstants.GO_ON).count();
    }

    private void hangs(byte[] image, long goingAfter) throws Exception {
        try (RunningExecutor executor = RunningExecutor.ofMachineCode(folder, NO_VENDORS);
                RelayTestClient client = executor.client("a", 0, settings(1));
                RelayTestClient other = executor.client("b", 0, settings(0))) {
            long function = function(client, image);
            assertEquals(1, going(executor), "the client's own page");
            executor.driver.held = true;
            client.launch(function, 0, new byte[16]);
            RelayTestClient.await(() -> client.segment().contextError() == CudaResult.LAUNCH_TIMEOUT, "the timeout");
            RelayTestClient.await(() -> going(executor) == goingAfter, "the stop word");
            executor.driver.held = false;
            assertEquals(0, other.call(DriverEntry.cuMemAlloc_v2, outBytes(8), value(64)));
            assertEquals(0, other.segment().contextError());
            assertEquals(goingAfter, going(executor));
        }
    }

    @Test
    void aKernelThatLooksIsToldToEndAndItsClientHearsOfIt() throws Exception {
        hangs(spinning(), 0);
    }

    @Test
    void whereNoKernelLooksNothingIsSaid() throws Exception {
        hangs(withoutPlace(), 1);
    }
}
