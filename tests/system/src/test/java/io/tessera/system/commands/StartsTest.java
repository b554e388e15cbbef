package io.tessera.system.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import io.tessera.system.ManagerProcess;
import io.tessera.system.ProgramResult;
import io.tessera.system.RunWatcher;
import io.tessera.system.RunningProgram;
import io.tessera.system.TestRun;
import io.tessera.testing.BuildOutputs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The class-data archives that the build records: each kind of process starts with its own, and without one if it does not fit. */
@ExtendWith(RunWatcher.class)
class StartsTest {
    private static boolean maps(long pid, String archive) {
        try (Stream<String> lines = Files.lines(Path.of("/proc/" + pid + "/maps"))) {
            return lines.anyMatch(line -> line.endsWith("/starts/" + archive + ".aot"));
        } catch (IOException e) {
            throw new AssertionError("process " + pid + " has gone", e);
        }
    }

    private static RunningProgram program(TestRun run) {
        return run.program("relay_worker", "mixed", "1", "0").env("TESSERA_SHARE", "space").start().awaitLine("ready");
    }

    private static void end(RunningProgram program) {
        program.tell("");
        ProgramResult result = program.end().exits(0);
        assertTrue(result.output().getLast().matches("right [1-9]\\d*"), result::toString);
    }

    private static long executor(ManagerProcess manager) {
        JsonObject executor = manager.control().status().getAsJsonArray("executors").get(0).getAsJsonObject();
        return executor.get("pid").getAsLong();
    }

    private static List<Long> workers(long executor) {
        return ProcessHandle.of(executor).orElseThrow().children().map(ProcessHandle::pid).toList();
    }

    @Test
    void eachKindOfProcessHasItsArchive(TestRun run) {
        ManagerProcess manager = run.manager(ManagerProcess.AS_USERS, "--executors", "nvidia");
        RunningProgram program = program(run);
        long executor = executor(manager);
        List<Long> workers = workers(executor);
        assertTrue(maps(manager.process().pid(), "manager"), "the manager has no archive");
        assertTrue(maps(executor, "executor"), "the executor has no archive");
        assertFalse(workers.isEmpty());
        for (long worker : workers) {
            assertTrue(maps(worker, "worker"), "a worker has no archive");
        }
        end(program);
    }

    /** With other jars, another collector or another class path, the JVM refuses an archive. It must not print that, least of all into a worker's answers. */
    @Test
    void anArchiveThatDoesNotFitIsLeftOutInSilence(TestRun run) throws IOException {
        Path app = Files.createDirectory(run.directory().resolve("app"));
        try (Stream<Path> jars = Files.list(BuildOutputs.app())) {
            for (Path jar : jars.filter(file -> file.toString().endsWith(".jar")).toList()) {
                Files.createSymbolicLink(app.resolve(jar.getFileName()), jar);
            }
        }
        Path starts = Files.createDirectory(app.resolve("starts"));
        Files.copy(BuildOutputs.app().resolve("starts/java-home"), starts.resolve("java-home"));
        for (String kind : List.of("manager", "executor", "worker")) {
            Files.writeString(starts.resolve(kind + ".aot"), "no archive");
        }
        ManagerProcess manager = run.managerOf(app, ManagerProcess.AS_USERS, "--executors", "nvidia");
        RunningProgram program = program(run);
        long executor = executor(manager);
        assertFalse(maps(manager.process().pid(), "manager"));
        assertFalse(maps(executor, "executor"));
        end(program);
        List<String> said = Files.readAllLines(run.runtimeDirectory().resolve("executors/executor-0.log"));
        assertEquals(List.of(), said.stream().filter(line -> line.contains("aot") || line.contains("cds")).toList());
    }
}
