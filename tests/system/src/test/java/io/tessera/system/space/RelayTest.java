package io.tessera.system.space;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.system.ManagerProcess;
import io.tessera.system.ProgramLaunch;
import io.tessera.system.ProgramResult;
import io.tessera.system.RunWatcher;
import io.tessera.system.RunningProgram;
import io.tessera.system.TestRun;
import io.tessera.testing.BuildOutputs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Space sharing: programs that own no context, whose calls an executor makes on the scripted driver. */
@ExtendWith(RunWatcher.class)
class RelayTest {
    private static final int PROGRAMS = 3;
    private static final Duration BOUND = Duration.ofSeconds(60);
    private static final String DEVICE_POINTER = "cuMemHostGetDevicePointer_v2 is not supported in space sharing "
            + "\\(registered memory is not visible to the device\\); run the program with --share time";

    private static ProgramLaunch relayed(TestRun run, String fixture) {
        return run.program(fixture).env("TESSERA_SHARE", "space");
    }

    @Test
    void contextsDevicesAndMemoryAreAsTheDriversOwn(TestRun run) {
        run.sharedManager("--executors", "nvidia");
        run.expectClientError("is not supported in space sharing");
        String managed = "this program uses managed memory \\(cudaMallocManaged\\), which space sharing does not have";
        run.expectLine(managed);
        ProgramResult result = relayed(run, "relay_contexts").run().exits(0).says("contexts ok");
        assertEquals(1, result.errors().stream().filter(line -> line.matches("tessera: " + managed + ".*")).count());
    }

    @Test
    void copiesOfAllSizesShapesAndDirectionsArriveWhole(TestRun run) {
        run.sharedManager("--executors", "nvidia");
        run.expectClientError("cuMemHostGetDevicePointer_v2");
        run.expectLine(DEVICE_POINTER);
        relayed(run, "relay_copies").run().exits(0).says("copies ok");
    }

    @Test
    void smallPinnedAllocationsShareMemoryAndNothingElse(TestRun run) {
        run.sharedManager("--executors", "nvidia");
        relayed(run, "relay_pinned").run().exits(0).says("pinned ok");
    }

    @Test
    void smallPinnedAllocationsAreTheSoftwareGpusToo(TestRun run) {
        run.sharedManager("--executors", "software");
        relayed(run, "relay_pinned").run().exits(0).says("pinned ok");
    }

    @Test
    void severalProgramsShareOneExecutor(TestRun run) {
        run.sharedManager("--executors", "nvidia");
        run.expectClientError("cuMemHostGetDevicePointer_v2");
        run.expectLine(DEVICE_POINTER);
        List<RunningProgram> programs = new ArrayList<>();
        for (int i = 0; i < PROGRAMS; i++) {
            programs.add(relayed(run, "relay_copies").tenant("tenant-" + i).start());
        }
        programs.forEach(program -> program.end(BOUND).exits(0).says("copies ok"));
    }

    @Test
    void kernelsOfAModuleAreNamedAsCufftAsksForThem(TestRun run) {
        run.sharedManager("--executors", "software");
        relayed(run, "relay_functions").run().exits(0).says("functions ok");
    }

    @Test
    void graphsReadAndWriteTheProgramsOwnMemory(TestRun run) {
        run.sharedManager("--executors", "software");
        String refused = "a copy node whose pageable side is another one than before";
        run.expectClientError(refused);
        run.expectLine("cuGraphMemcpyNodeSetParams is not supported in space sharing \\(" + refused + "\\); run the program with --share time");
        relayed(run, "relay_captures").run().exits(0).says("captures ok");
    }

    @Test
    void kernelsReadWhatReferencesAndMipmapsStandFor(TestRun run) {
        run.sharedManager("--executors", "software");
        relayed(run, "relay_textures").run().exits(0).says("textures ok");
    }

    @Test
    void blocksThatWaitForTheirClusterHaveRoomForIt(TestRun run) {
        run.sharedManager("--executors", "software");
        String refused = "kernel exchange may access the shared memory of other blocks";
        run.expectClientError(refused);
        run.expectLine(refused + ".*24 bytes of shared memory more.*");
        relayed(run, "relay_clusters").env("TESSERA_FENCE_ALONE", "1").run().exits(0).says("clusters ok");
    }

    /** A program for libcudart.so.12, with layouts and arguments that version 13 changed. */
    @Test
    void aProgramOfCuda12RunsWithOurRuntime(TestRun run) {
        run.sharedManager("--executors", "software");
        run.expectClientError("cuMemAllocManaged is not supported in space sharing");
        String managed = "this program uses managed memory (cudaMallocManaged), which space sharing does not have: run it with --share time";
        String advice = "the runtime library does not serve cudaMemAdvise; run the program with --share time --runtime vendor, "
                + "which needs a GPU and NVIDIA's driver";
        run.expectLine(Pattern.quote(managed));
        run.expectLine(Pattern.quote(advice));
        ProgramResult result = run.command(BuildOutputs.root().resolve("tools/tessera").toString(), "run", "--share", "space", "--runtime",
                "tessera", "--", BuildOutputs.fixture("runtime12").toString()).without("LD_PRELOAD")
                .without("LD_LIBRARY_PATH").without("TESSERA_DRIVER").run().exits(0).says("runtime 12 ok");
        assertEquals(List.of("tessera: " + managed, "tessera: " + advice), result.libraryLines());
    }

    @Test
    void twoDevicesHaveNoAddressInCommon(TestRun run) {
        // The drivers of both executors begin at the same address, as drivers of two processes may.
        run.manager(Map.of("TESSERA_SCRIPT", "devices 2; arena 85899345920000"), "--executors", "nvidia");
        relayed(run, "relay_devices").script("devices 2").run().exits(0).says("devices ok");
    }

    @Test
    void aTraceHoldsEveryCallWithItsResult(TestRun run) throws IOException {
        run.sharedManager("--executors", "nvidia");
        run.expectClientError("cuMemHostGetDevicePointer_v2");
        run.expectLine(DEVICE_POINTER);
        Path relayed = run.directory().resolve("relayed.trace");
        relayed(run, "relay_copies").env("TESSERA_TRACE", relayed.toString()).run().exits(0).says("copies ok");
        Path direct = run.directory().resolve("direct.trace");
        run.program("linked").env("TESSERA_TRACE", direct.toString()).run().exits(0).says("roundtrip");
        for (Path trace : List.of(relayed, direct)) {
            List<String> lines = Files.readAllLines(trace);
            long allocations = lines.stream().filter(line -> line.contains(" cuMemAlloc_v2 0 ")).count();
            long frees = lines.stream().filter(line -> line.contains(" cuMemFree_v2 0 ")).count();
            assertTrue(allocations > 0 && allocations == frees, trace + ": " + allocations + " and " + frees);
            assertTrue(lines.stream().allMatch(line -> line.matches("\\d+ \\d+ cu\\w+ -?\\d+( [0-9a-f]+){8} \\d+ \\d+( \\d=\\S+)*")));
            // A relayed program has to wait for addresses from the executor; the driver itself returns them at once.
            String waits = trace == relayed ? " 1 0" : " 0 0";
            assertTrue(lines.stream().filter(line -> line.contains(" cuMemAlloc_v2 0 ")).allMatch(line -> line.endsWith(waits)));
        }
        List<String> flags = Files.readAllLines(relayed).stream().filter(line -> line.contains(" cuMemHostGetFlags 0 ")).toList();
        assertTrue(!flags.isEmpty() && flags.stream().allMatch(line -> line.matches(".* 0=\\d+")), flags.toString());
    }

    @Test
    void aKilledExecutorEndsCallsAndHangsNone(TestRun run) throws IOException {
        ManagerProcess manager = run.manager("--executors", "nvidia");
        run.expectLog("executor");
        run.expectClientError("the executor is gone");
        run.expectLine("the executor is gone: every later CUDA call fails");
        RunningProgram program = relayed(run, "relay_lost").start();
        assertEquals("ready", program.nextLine(BOUND));
        manager.process().toHandle().children().forEach(ProcessHandle::destroyForcibly);
        program.end(BOUND).exits(0).says("lost");
        List<String> log = Files.readAllLines(run.runtimeDirectory().resolve("executors/executor-0.log"));
        assertTrue(log.stream().anyMatch(line -> line.matches("\\d{4}-\\d\\d-\\d\\dT.* INFO .*")), log.toString());
    }

    @Test
    void withoutAnExecutorTheProgramIsToldWhy(TestRun run) {
        run.expectLine("so there is no executor: with --share space CUDA is refused");
        relayed(run, "relay_contexts").run().exits(1);
    }

    @Test
    void aManagerWithoutExecutorsSaysSo(TestRun run) {
        run.manager("--executors", "none");
        run.expectLine("the manager has no executor for this program");
        run.expectClientError("the manager has no executor for this program");
        relayed(run, "relay_contexts").run().exits(1);
    }
}
