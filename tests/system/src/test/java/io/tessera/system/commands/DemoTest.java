package io.tessera.system.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.system.Await;
import io.tessera.system.ProcessSignals;
import io.tessera.system.ProgramLaunch;
import io.tessera.system.ProgramResult;
import io.tessera.system.RunWatcher;
import io.tessera.system.RunningProgram;
import io.tessera.system.TestRun;
import io.tessera.testing.BuildOutputs;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** {@code tools/tessera demo} as a new user runs it, in the built tree, on the software GPU. */
@ExtendWith(RunWatcher.class)
class DemoTest {
    private static final Duration BOUND = Duration.ofSeconds(120);
    private static final String STATUS = "$ tessera status";
    private static final List<String> TENANTS = List.of("matrix", "histogram", "heat");

    private static ProgramLaunch demo(TestRun run, String seconds) {
        return run.command(BuildOutputs.root().resolve("tools/tessera").toString(), "demo", "--seconds", seconds,
                "--software").without("LD_PRELOAD").without("LD_LIBRARY_PATH").without("TESSERA_DRIVER")
                .without("TESSERA_RUNTIME_DIR").without("TESSERA_SCRIPT_WITNESS").without("TESSERA_TEST_PRELOAD")
                .env("TESSERA_JAVA", System.getProperty("java.home")).env("TMPDIR", run.directory().toString());
    }

    @Test
    void threeProgramsShareADevice(TestRun run) throws IOException {
        ProgramResult result = demo(run, "8").start().end(BOUND).exits(0);
        assertEquals(List.of(), result.errors());
        for (String program : List.of("  matrix product: ", "  histogram: ", "  heat: ")) {
            assertTrue(result.output().stream().anyMatch(line -> line.startsWith(program) && line.endsWith(": correct")),
                    () -> program + " is missing from " + result);
        }
        for (String tenant : TENANTS) {
            assertTrue(result.output().stream().anyMatch(line -> line.matches(" *\\d+ +\\d+ +" + tenant + " .*")),
                    () -> "the status shows no " + tenant + ": " + result);
        }
        result.says("Three programs shared one device; all results are correct.");
        leavesNothing(run);
    }

    @Test
    void endsCleanlyWhenInterrupted(TestRun run) throws IOException {
        RunningProgram demo = demo(run, "100").start();
        while (!demo.nextLine(BOUND).equals(STATUS)) {
            assertTrue(demo.process().isAlive());
        }
        ProcessSignals.send(demo.process(), ProcessSignals.TERM);
        demo.end(Duration.ofSeconds(30)).exits(143);
        leavesNothing(run);
    }

    /** Checks that the demo leaves no file, and no process whose environment names its folder. */
    private static void leavesNothing(TestRun run) throws IOException {
        try (Stream<Path> files = Files.list(run.directory())) {
            assertEquals(List.of(), files.filter(file -> file.getFileName().toString().startsWith("tessera-")).toList());
        }
        Await.until("no process is left", Await.PATIENCE, () -> processes(run).isEmpty(),
                () -> processes(run).toString());
    }

    private static List<String> processes(TestRun run) {
        return ProcessHandle.allProcesses().filter(process -> environment(process.pid()).contains(
                "TESSERA_RUNTIME_DIR=" + run.directory())).map(ProcessHandle::toString).toList();
    }

    /** Returns a process's environment; empty for a process of another user, or one that has just ended. */
    private static String environment(long pid) {
        try {
            return Files.readString(Path.of("/proc", Long.toString(pid), "environ"), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            return "";
        }
    }
}
