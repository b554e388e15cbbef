package io.tessera.system.commands;

import static io.tessera.system.TesseraCommand.asUser;
import static io.tessera.system.TesseraCommand.tessera;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.tessera.os.linux.Linux;
import io.tessera.system.Await;
import io.tessera.system.ControlSocket;
import io.tessera.system.ManagerProcess;
import io.tessera.system.ProcessSignals;
import io.tessera.system.ProgramResult;
import io.tessera.system.RunWatcher;
import io.tessera.system.RunningProgram;
import io.tessera.system.TestRun;
import io.tessera.testing.BuildOutputs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** tools/tessera with real programs and a real manager, from a kit made of the build's results. */
@ExtendWith(RunWatcher.class)
class CommandLineTest {
    /** As in {@code tessera status --watch | head}. */
    @Test
    void watchingEndsWithItsReader(TestRun run) {
        run.sharedManager();
        ProgramResult result = asUser(run, "sh", "-c", BuildOutputs.root().resolve("tools/tessera") + " status --watch 20ms | head -n 1")
                .start().end(Await.PATIENCE).exits(0);
        assertTrue(result.output().getFirst().startsWith("manager "), result.toString());
    }

    @Test
    void anAnswerThatCannotBeWrittenIsAFailure(TestRun run) {
        run.sharedManager();
        asUser(run, "sh", "-c", BuildOutputs.root().resolve("tools/tessera") + " status 2>&1 >/dev/full").start().end(Await.PATIENCE).exits(1)
                .says("tessera: standard output cannot be written: No space left on device");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 7, 130})
    void exitCodePassesThrough(int code, TestRun run) {
        run.sharedManager();
        tessera(run, "run", "--", "sh", "-c", "exit " + code).run().exits(code);
    }

    @ParameterizedTest
    @CsvSource({"TERM, 143", "KILL, 137", "USR1, 138"})
    void signalPassesThrough(String signal, int exit, TestRun run) {
        run.sharedManager();
        tessera(run, "run", "--", "sh", "-c", "kill -" + signal + " $$; sleep 5").run().exits(exit);
    }

    /** The started process becomes the program, so that signals reach it directly. */
    @Test
    void signalToTheCommandReachesTheProgram(TestRun run) {
        run.sharedManager();
        RunningProgram program = tessera(run, "run", "--", "sh", "-c", "trap 'echo caught; exit 9' TERM; echo set; "
                + "while :; do sleep 0.05; done").start().awaitLine("set");
        ProcessSignals.send(program.process(), ProcessSignals.TERM);
        program.awaitLine("caught").end().exits(9);
    }

    @Test
    void programsRunUnderTheLibraryWithTheirOptions(TestRun run) {
        ManagerProcess manager = run.sharedManager();
        RunningProgram program = tessera(run, "run", "--memory", "96MiB", "--plan", "managed", "--name", "trainer", "--",
                BuildOutputs.fixture("console").toString()).start();
        program.openDevice();
        assertEquals(Long.toString(96L << 20), program.okay("total 0"));
        JsonObject client = manager.control().client(program.pid());
        assertEquals("trainer", client.get("tenant").getAsString());
        assertEquals("managed", client.get("plan").getAsString());
        program.quit().exits(0);
    }

    /** The first run starts a manager, later ones use it, and `manager stop` ends it. */
    @Test
    void firstRunStartsAManagerAndStopEndsIt(TestRun run) {
        run.expectLine("manager");
        tessera(run, "run", "--", BuildOutputs.fixture("linked").toString()).run().exits(0).says("roundtrip");
        ControlSocket control = new ControlSocket(run.runtimeDirectory());
        long pid = control.status().getAsJsonObject("manager").get("pid").getAsLong();
        tessera(run, "run", "--", BuildOutputs.fixture("linked").toString()).run().exits(0).says("roundtrip");
        assertEquals(pid, control.status().getAsJsonObject("manager").get("pid").getAsLong());
        tessera(run, "manager", "stop").run().exits(0);
        Await.until("the manager has ended", Await.PATIENCE, () -> ProcessHandle.of(pid).filter(ProcessHandle::isAlive).isEmpty());
    }

    /** The manager's environment and limits also affect others' programs, so it takes over only its own variables; a value of several lines injects none. */
    @Test
    void aManagerTakesFromWhoeverStartsItOnlyWhatIsMeantForIt(TestRun run) throws IOException {
        asUser(run, "sh", "-c", "ulimit -S -t 1000; ulimit -S -f 1000000; umask 077; exec "
                + BuildOutputs.root().resolve("tools/tessera") + " manager start")
                .env("FOREIGN", "1\nruntime=/evil\nTESSERA_MODE=on").env("CUDA_VISIBLE_DEVICES", "3").env("TMPDIR", "/nowhere")
                .env("TESSERA_TRACE", "/nowhere").env("TESSERA_PLAN", "plain").env("TESSERA_QUANTUM", "7s").run().exits(0);
        long pid = new ControlSocket(run.runtimeDirectory()).status().getAsJsonObject("manager").get("pid").getAsLong();
        List<String> names = Stream.of(Files.readString(Path.of("/proc/" + pid + "/environ")).split("\0"))
                .map(each -> each.replaceFirst("(?s)=.*", "")).toList();
        for (String foreign : List.of("FOREIGN", "CUDA_VISIBLE_DEVICES", "TMPDIR", "TESSERA_TRACE", "TESSERA_PLAN", "TESSERA_MODE")) {
            assertFalse(names.contains(foreign), foreign);
        }
        assertTrue(names.containsAll(List.of("TESSERA_QUANTUM", "PATH", "TESSERA_SHM_DIR")), names.toString());
        String limits = Files.readString(Path.of("/proc/" + pid + "/limits"));
        assertTrue(limits.lines().filter(line -> line.startsWith("Max cpu time") || line.startsWith("Max file size"))
                .allMatch(line -> line.matches(".* unlimited +unlimited .*")), limits);
        if (maySpareProcesses()) {
            assertEquals("-800", Files.readString(Path.of("/proc/" + pid + "/oom_score_adj")).strip());
        }
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(run.runtimeDirectory().resolve("manager.log"))));
        tessera(run, "manager", "stop").run().exits(0);
    }

    /** Returns whether this process has CAP_SYS_RESOURCE, as root mostly has outside of containers. */
    private static boolean maySpareProcesses() throws IOException {
        return Linux.open().processes().uid() == 0
                && Files.readAllLines(Path.of("/proc/self/status")).stream().filter(line -> line.startsWith("CapEff:"))
                        .anyMatch(line -> (Long.parseUnsignedLong(line.substring(7).strip(), 16) >> 24 & 1) == 1);
    }

    private static RunningProgram relayed(TestRun run) {
        return run.program("relay_worker", "mixed", "1", "0").env("TESSERA_SHARE", "space").tenant("relayed").start()
                .awaitLine("ready");
    }

    /** {@code stop} ends the manager, {@code stop --programs} all, if the user agrees; the pid file is not needed for it. */
    @Test
    void stopEndsTheManagerAndWithProgramsAll(TestRun run) {
        run.expectLine("");
        run.expectClientError("");
        run.expectLog("is ended by signal");
        ManagerProcess manager = run.manager("--executors", "nvidia");
        RunningProgram program = relayed(run);
        RunningProgram refused = tessera(run, "manager", "stop", "--programs").start();
        refused.tell("no");
        ProgramResult nothing = refused.end(Await.PATIENCE).exits(1);
        assertTrue(nothing.output().toString().contains("This ends 1 program, 1 executor and the manager."), nothing.toString());
        assertTrue(manager.alive());
        tessera(run, "manager", "stop").run().exits(0);
        assertTrue(program.process().isAlive());
        ProgramResult stopped = tessera(run, "manager", "stop", "--programs", "--yes").run().exits(0);
        assertTrue(stopped.output().toString().contains("executor 0 stopped"), stopped.toString());
        program.end(Await.PATIENCE).exits(1);
        tessera(run, "manager", "stop", "--programs", "--yes").run().exits(3);
        ManagerProcess next = run.manager("--executors", "nvidia");
        RunningProgram other = relayed(run);
        try {
            Files.delete(run.runtimeDirectory().resolve("manager.pid"));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        tessera(run, "manager", "stop", "--programs", "--yes").run().exits(0);
        // The manager is found by its socket, which it closes before its process ends.
        Await.until("the manager has ended", Await.PATIENCE, () -> !next.alive());
        other.end(Await.PATIENCE);
    }

    /** Such a manager cannot be found, and adopts the executor as its own. What the command reports as stopped must have stopped. */
    @Test
    void anExecutorIsNotSaidToHaveStoppedUntilItHas(TestRun run) throws IOException {
        run.expectLine("");
        run.expectClientError("");
        run.expectLog("");
        ManagerProcess manager = run.manager("--executors", "nvidia");
        RunningProgram program = relayed(run);
        ProcessHandle executor = ProcessHandle
                .of(manager.control().status().getAsJsonArray("executors").get(0).getAsJsonObject().get("pid").getAsLong()).orElseThrow();
        for (String file : List.of("manager.pid", "manager.sock", "control.sock")) {
            Files.delete(run.runtimeDirectory().resolve(file));
        }
        ProgramResult stopped = tessera(run, "manager", "stop", "--programs", "--yes").run();
        assertEquals(stopped.output().toString().contains("executor 0 stopped") ? 0 : 1, stopped.exit(), stopped::toString);
        Await.until("the executor has ended", Await.PATIENCE, () -> !executor.isAlive());
        assertTrue(stopped.exit() == 0 || stopped.errors().toString().contains("io.tessera.manager.ManagerMain"), stopped::toString);
        assertTrue(manager.alive());
        program.end(Await.PATIENCE);
    }

    @Test
    void statusShowsHolderAndWaiters(TestRun run) {
        ManagerProcess manager = run.manager("--mode", "on", "--quantum", "100s");
        RunningProgram holder = run.program("console").tenant("holder").start();
        holder.openDevice();
        holder.okay("launch 60000000 1"); // it is killed
        RunningProgram waiter = run.program("console").tenant("waiter").start();
        waiter.openDevice();
        waiter.tell("launch 1000 1");
        Await.until("the waiter waits", Await.PATIENCE, () -> manager.control().clientDevice(waiter.pid())
                .get("waitingNs").getAsLong() > 100_000_000L, () -> manager.control().status().toString());
        ProgramResult result = tessera(run, "status", "--json").run().exits(0);
        JsonObject status = JsonParser.parseString(String.join("\n", result.output())).getAsJsonObject();
        JsonObject device = status.getAsJsonArray("devices").get(0).getAsJsonObject();
        JsonArray clients = status.getAsJsonArray("clients");
        long holderId = id(clients, "holder");
        assertEquals(holderId, device.get("holder").getAsLong(), status::toString);
        assertTrue(waiting(clients, "waiter") > 100_000_000L, status::toString);
        assertEquals(0, waiting(clients, "holder"), status::toString);
        ProgramResult table = tessera(run, "status").run().exits(0);
        assertTrue(String.join("\n", table.output()).contains("waiter"), table::toString);
        holder.kill();
        waiter.awaitLine("ok").quit().exits(0);
    }

    private static JsonObject client(JsonArray clients, String tenant) {
        return clients.asList().stream().map(client -> client.getAsJsonObject())
                .filter(client -> client.get("tenant").getAsString().equals(tenant)).findFirst().orElseThrow();
    }

    private static long id(JsonArray clients, String tenant) {
        return client(clients, tenant).get("id").getAsLong();
    }

    private static long waiting(JsonArray clients, String tenant) {
        return client(clients, tenant).getAsJsonArray("devices").get(0).getAsJsonObject().get("waitingNs").getAsLong();
    }

    @Test
    void schedulerAndQuantumCommandsReachTheManager(TestRun run) {
        ManagerProcess manager = run.manager("--mode", "off");
        RunningProgram program = run.program("console").start();
        program.openDevice();
        tessera(run, "scheduler", "on").run().exits(0);
        tessera(run, "quantum", "250ms").run().exits(0);
        JsonObject device = manager.control().device(0);
        assertEquals("on", device.get("mode").getAsString());
        assertEquals(250_000_000L, device.get("quantumNs").getAsLong());
        program.quit().exits(0);
    }

    @Test
    void commandsWithoutAManagerSaySo(TestRun run) {
        run.expectLine("");
        for (List<String> arguments : List.of(List.of("status"), List.of("scheduler", "on"))) {
            ProgramResult result = tessera(run, arguments.toArray(String[]::new)).run();
            assertTrue(result.exit() != 0, result::toString);
            assertTrue(String.join("\n", result.errors()).contains("manager"), result::toString);
        }
    }

    /** With a driver (here the scripted one), a program keeps its CUDA runtime, unless an option requests otherwise. */
    @ParameterizedTest
    @CsvSource({"space, auto, false", "time, auto, false", "space, tessera, true", "time, tessera, true",
            "space, vendor, false"})
    void runtimeLibraryIsOursWhereAskedFor(String share, String runtime, boolean ours, TestRun run) {
        run.sharedManager("--executors", "none");
        ProgramResult result = tessera(run, "run", "--share", share, "--runtime", runtime, "--", "sh", "-c",
                "echo $LD_PRELOAD").run().exits(0);
        assertEquals(ours, result.output().getFirst().contains("/runtime/libcudart.so.13"), result::toString);
        assertTrue(result.output().getFirst().contains("libcuda.so.1"), result::toString);
    }

    @Test
    void runtimeLibraryIsOursWithoutADriver(TestRun run) {
        assumeFalse(Files.exists(Path.of("/dev/nvidiactl")), "skipped: this machine has NVIDIA's driver");
        run.sharedManager("--executors", "none");
        String preloaded = tessera(run, "run", "--share", "space", "--", "sh", "-c", "echo $LD_PRELOAD")
                .without("TESSERA_DRIVER").run().exits(0).output().getFirst();
        assertTrue(preloaded.contains("/runtime/libcudart.so.13") && preloaded.contains("/runtime/libcudart.so.12"),
                preloaded);
    }

    @Test
    void anUnknownRuntimeLibraryIsWrongUsage(TestRun run) {
        run.expectLine("the CUDA runtime is auto, tessera or vendor");
        tessera(run, "run", "--runtime", "mine", "--", "true").run().exits(2);
    }
}
