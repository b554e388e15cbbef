package io.tessera.system.programs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonObject;
import io.tessera.protocol.segment.CounterId;
import io.tessera.system.ClientCounters;
import io.tessera.system.DriverCallCounts;
import io.tessera.system.ManagerProcess;
import io.tessera.system.NvccCompiler;
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
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/**
 * Programs from NVIDIA's compiler. Their runtime asks the driver for an integrity check that only NVIDIA's driver passes, so with
 * the scripted driver these programs end with a CUDA error, both natively and with the library.
 */
@Tag("nvcc")
@ExtendWith(RunWatcher.class)
class NvccTest {
    private static final Duration BOUND = Duration.ofSeconds(30);
    private static final int ROUNDS = 5;
    /** Minimum number of entries that NVIDIA's runtime looks up by name before its first call; 440 in 13.0. */
    private static final long RUNTIME_LOOKUPS = 300;
    /** Names that runtime.cu itself looks up: all but the last are hooked. */
    private static final List<String> HOOKED = List.of("cuMemAlloc", "cuMemFree", "cuLaunchKernel", "cuMemcpyHtoD", "cuGraphLaunch",
            "cuGetProcAddress");

    @TempDir
    static Path folder;
    private static NvccCompiler compiler;

    @BeforeAll
    static void findCompiler() {
        compiler = NvccCompiler.find(folder);
    }

    private static ProgramResult nvcc(String... arguments) throws IOException {
        return compiler.run(arguments);
    }

    private static String source(String name) {
        return BuildOutputs.root().resolve("tests/system/src/test/cu").resolve(name).toString();
    }

    private static String driverProgram() throws IOException {
        Path program = folder.resolve("driver_launch");
        if (!Files.exists(program)) {
            nvcc("-fatbin", "-o", image(), source("fill.cu"));
            nvcc("-o", program.toString(), source("driver_launch.cu"), "-L", BuildOutputs.nativeFolder().toString(),
                    "-lcuda");
        }
        return program.toString();
    }

    private static String image() {
        return folder.resolve("fill.fatbin").toString();
    }

    /** The program for the driver API behaves as it does natively, and the manager sees its work. */
    @Test
    void linkedDriverProgramRunsAsNatively(TestRun run) throws IOException {
        ProgramLaunch program = run.command(driverProgram(), image(), Integer.toString(ROUNDS));
        String natively = finish(run.command(driverProgram(), image(), Integer.toString(ROUNDS)).natively().start());
        ManagerProcess manager = run.manager("--mode", "on");
        RunningProgram running = program.tenant("compiled").start().awaitLine("ready");
        running.tell("");
        assertEquals(natively, running.nextLine(BOUND));
        JsonObject client = manager.control().client(running.pid());
        assertEquals("compiled", client.get("tenant").getAsString());
        assertEquals("driver_launch", client.get("command").getAsString());
        JsonObject device = manager.control().clientDevice(running.pid());
        assertEquals((1 << 16) * 4L, device.get("usedBytes").getAsLong(), device::toString);
        assertEquals(ROUNDS, device.get("launches").getAsLong(), device::toString);
        assertEquals(run.witness().submissions(running.pid(), 0), run.segments().submissions(running.pid()));
        assertTrue(run.witness().submissions(running.pid(), 0) >= 3 * ROUNDS);
        running.tell("");
        running.end(BOUND).exits(0);
    }

    private static String finish(RunningProgram program) {
        program.awaitLine("ready");
        program.tell("");
        String line = program.nextLine(BOUND);
        assertTrue(line.startsWith("right "), line);
        program.tell("");
        program.end(BOUND).exits(0);
        return line;
    }

    @Test
    void linkedDriverProgramsTakeTurns(TestRun run) throws IOException {
        run.manager("--mode", "on", "--quantum", "10ms");
        List<RunningProgram> programs = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            programs.add(run.command(driverProgram(), image(), "100").script("kernel scripted_fill 1ms; copy 100us")
                    .start().awaitLine("ready"));
        }
        programs.forEach(program -> program.tell(""));
        List<String> lines = programs.stream().map(program -> program.nextLine(BOUND)).toList();
        assertEquals(1, lines.stream().distinct().count(), lines::toString);
        programs.forEach(program -> program.tell(""));
        programs.forEach(program -> program.end(BOUND).exits(0));
        assertEquals(0, run.witness().overlaps(0), () -> "overlaps: " + run.witness().firstOverlaps(0));
    }

    @Test
    void staticRuntimeIsGivenOurEntries(TestRun run) throws IOException {
        Path program = folder.resolve("runtime_static");
        nvcc("-cudart", "static", "-o", program.toString(), source("runtime.cu"), "-ldl");
        runtimeAsksUs(program, Optional.empty(), run);
    }

    @Test
    void sharedRuntimeIsGivenOurEntries(TestRun run) throws IOException {
        Optional<Path> libraries = sharedRuntime();
        assumeTrue(libraries.isPresent(), "skipped: nvcc comes without the shared runtime, libcudart.so");
        Path program = folder.resolve("runtime_shared");
        nvcc("-cudart", "shared", "-o", program.toString(), source("runtime.cu"), "-ldl");
        runtimeAsksUs(program, libraries, run);
    }

    /** The folder of libcudart.so that nvcc links with. */
    private static Optional<Path> sharedRuntime() throws IOException {
        ProgramResult plan = nvcc("--dryrun", "-cudart", "shared", source("runtime.cu"));
        Matcher folders = Pattern.compile("-L([^\"\\s]+)").matcher(String.join("\n", plan.errors()));
        return folders.results().map(found -> Path.of(found.group(1)).normalize())
                .filter(found -> Files.exists(found.resolve("libcudart.so"))).findFirst();
    }

    private static ProgramLaunch withLibraries(ProgramLaunch program, Path own, Optional<Path> libraries) {
        return program.env("LD_LIBRARY_PATH", own + libraries.map(more -> ":" + more).orElse(""));
    }

    private static List<String> finishRuntime(RunningProgram program) {
        List<String> said = new ArrayList<>();
        for (String line = program.nextLine(BOUND); !line.equals("ready"); line = program.nextLine(BOUND)) {
            said.add(line);
        }
        return said;
    }

    private static void runtimeAsksUs(Path program, Optional<Path> libraries, TestRun run) {
        RunningProgram natively = withLibraries(run.command(program.toString()).natively(), run.driverFolder(), libraries)
                .start();
        List<String> expected = finishRuntime(natively);
        natively.tell("");
        natively.end(BOUND).exits(0);
        long asked = DriverCallCounts.of("cuGetProcAddress_v2", run);
        assertTrue(asked > RUNTIME_LOOKUPS, asked + " lookups natively");

        run.manager("--mode", "on");
        RunningProgram running = withLibraries(run.command(program.toString()), BuildOutputs.nativeFolder(), libraries)
                .start();
        List<String> said = finishRuntime(running);
        assertEquals(asked, DriverCallCounts.of("cuGetProcAddress_v2", run) - asked, "other questions than natively");
        assertEquals(asked, ClientCounters.of(CounterId.LOOKUPS, running.pid(), run), "questions passed us by");
        long ours = ClientCounters.of(CounterId.SUBSTITUTIONS, running.pid(), run);
        System.out.println(program.getFileName() + ": " + asked + " lookups, " + ours + " answered with our entries");
        assertTrue(ours > asked / 4, ours + " of " + asked);
        assertEquals(results(expected), results(said));
        assertTrue(said.getFirst().startsWith("count error ") && !said.getFirst().equals("count error 0"),
                () -> "the scripted driver gave the vendor's integrity answer? " + said);
        for (String name : HOOKED) {
            assertTrue(said.contains(name + " of " + BuildOutputs.preload()), () -> name + ": " + said);
        }
        assertTrue(said.contains("cuDeviceGetName of " + BuildOutputs.preload()), said::toString); // a jump
        running.tell("");
        running.end(BOUND).exits(0);
    }

    /** Returns the results of the runtime's calls. */
    private static List<String> results(List<String> said) {
        return said.stream().filter(line -> line.contains(" error ") || line.startsWith("value ")).toList();
    }
}
