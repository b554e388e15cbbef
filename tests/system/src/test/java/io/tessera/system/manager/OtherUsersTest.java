package io.tessera.system.manager;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.tessera.system.Await;
import io.tessera.system.ManagerProcess;
import io.tessera.system.OtherUser;
import io.tessera.system.ProgramLaunch;
import io.tessera.system.ProgramResult;
import io.tessera.system.RunWatcher;
import io.tessera.system.RunningProgram;
import io.tessera.system.TestRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A manager of root on the software GPU, with programs of root and of another user: the promises of README, section "Permissions". */
@ExtendWith(RunWatcher.class)
class OtherUsersTest {
    private static final Duration BOUND = Duration.ofSeconds(90);
    private static final String MASKED = "(another user's)";
    private static final String ADMINISTRATORS = "the manager refuses: only root, user 0, to whom this manager belongs, and members of"
            + " the group tessera may do that; you are user " + OtherUser.UID;
    private static final long MIB = 1 << 20;
    private static final String OUT_OF_MEMORY = "2";

    private static ManagerProcess manager(TestRun run) {
        return run.manager("--executors", "software", "--software-memory", "256MiB");
    }

    private static ProgramLaunch ofRoot(TestRun run, String tenant, String fixture, String... arguments) {
        return run.program(fixture, arguments).env("TESSERA_SHARE", "space").tenant(tenant);
    }

    private static void endsRight(RunningProgram guest) {
        guest.tell("");
        guest.end(BOUND).exits(0).says("right");
    }

    /** Starts a program with a context and its streams. The last step, loading the scripted kernel, fails on the software GPU. */
    private static RunningProgram withContext(ProgramLaunch console) {
        RunningProgram program = console.start();
        program.okay("init");
        program.awaitAnswer("context 0", "error 200");
        return program;
    }

    private static JsonObject executor(JsonObject status) {
        return status.getAsJsonArray("executors").get(0).getAsJsonObject();
    }

    private static List<String> tenants(JsonArray named) {
        return named.asList().stream().map(each -> each.getAsJsonObject().get("tenant").getAsString()).sorted().toList();
    }

    /** The executor reports its clients once a second. */
    private static void awaitClients(ManagerProcess manager, int count) {
        Await.until(count + " programs are in the executor's account", BOUND,
                () -> executor(manager.control().status()).getAsJsonArray("clients").size() == count,
                () -> manager.control().status().toString());
    }

    private static ProgramResult refused(ProgramResult result, String reason) {
        assertTrue(result.errors().stream().anyMatch(line -> line.contains(reason)), result::toString);
        return result.exits(1);
    }

    @Test
    void theStatusNamesAUsersOwnProgramsAlone(TestRun run) throws IOException {
        OtherUser other = OtherUser.of(run);
        ManagerProcess manager = manager(run);
        RunningProgram roots = ofRoot(run, "secret", "relay_guest", "1").start().awaitLine("ready");
        RunningProgram others = other.program("mine", "relay_guest", "7").start().awaitLine("ready");
        awaitClients(manager, 2);
        Await.until("the executor has told of both windows", Await.PATIENCE,
                () -> executor(manager.control().status()).getAsJsonArray("windows").size() == 2);
        assertEquals(List.of("mine", "secret"), tenants(manager.control().status().getAsJsonArray("clients")));
        ProgramResult result = other.tessera("status", "--json").start().end(BOUND).exits(0);
        JsonObject status = JsonParser.parseString(String.join("", result.output())).getAsJsonObject();
        assertEquals(List.of(MASKED, "mine"), tenants(status.getAsJsonArray("clients")));
        assertEquals(List.of(MASKED, "mine"), tenants(executor(status).getAsJsonArray("clients")));
        assertEquals(List.of(MASKED, "mine of user " + OtherUser.UID), tenants(executor(status).getAsJsonArray("windows")));
        for (JsonArray clients : List.of(status.getAsJsonArray("clients"), executor(status).getAsJsonArray("clients"))) {
            for (JsonObject client : clients.asList().stream().map(each -> each.getAsJsonObject()).toList()) {
                assertEquals(client.get("tenant").getAsString().equals("mine") ? others.pid() : 0, client.get("pid").getAsLong());
            }
        }
        ProgramResult shown = other.tessera("status").start().end(BOUND).exits(0);
        for (ProgramResult each : List.of(result, shown)) {
            assertFalse(each.output().toString().contains("secret"), each::toString);
            assertFalse(each.output().toString().matches(".*\\b" + roots.pid() + "\\b.*"), each::toString);
        }
        endsRight(roots);
        endsRight(others);
    }

    @Test
    void anotherUserChangesNothingAndReadsNothing(TestRun run) throws IOException {
        OtherUser other = OtherUser.of(run);
        ManagerProcess manager = manager(run);
        for (String line : List.of("the manager refuses", "not yours")) {
            run.expectLine(line); // written by the commands
        }
        RunningProgram roots = ofRoot(run, "a", "relay_guest", "1").start().awaitLine("ready");
        awaitClients(manager, 1);
        for (String command : List.of("limit a 1MiB", "scheduler on", "quantum 500ms", "manager stop --programs --yes")) {
            refused(other.tessera(command.split(" ")).start().end(BOUND), ADMINISTRATORS);
        }
        refused(other.tessera("manager", "stop").start().end(BOUND), "not yours");
        for (String command : List.of("evict a", "restore a")) {
            refused(other.tessera(command.split(" ")).start().end(BOUND), "no program of yours with the name \"a\"");
        }
        Path directory = run.runtimeDirectory();
        Path executors = directory.resolve("executors"); // owned by the user as whom executors run
        Files.createFile(directory.resolve("manager.log")); // as `tessera manager start` creates it; this manager logs to the test
        Files.setPosixFilePermissions(directory.resolve("manager.log"), Files.getPosixFilePermissions(executors.resolve("executor-0.log")));
        refused(other.tessera("manager", "logs").start().end(BOUND), "not yours to read");
        for (String name : List.of("executor-0.log", "executor-0.state", "executor-0.mgr")) {
            assertTrue(Files.exists(executors.resolve(name)), name);
            assertFalse(other.canRead(executors.resolve(name)), name);
        }
        assertFalse(other.canRead(directory.resolve("manager.log")), "the manager's log");
        assertFalse(other.canRead(executors), "a list of the executors' files");
        assertFalse(other.canWrite(executors), "the executors' directory");
        assertFalse(other.canWrite(executors.resolve("executor-0.mgr")), "orders to the executor");
        assertFalse(other.canWrite(directory.resolve("manager.pid")), "the manager's lock");
        assertFalse(other.canWrite(directory), "the runtime directory");
        assertFalse(other.canRead(directory), "a list of the runtime directory");
        assertFalse(other.canRead(run.segmentDirectory()), "a list of the segments");
        try (var segments = Files.list(run.segmentDirectory())) {
            for (Path segment : segments.toList()) {
                assertFalse(other.canRead(segment), segment::toString);
            }
        }
        endsRight(roots);
    }

    @Test
    void oneLabelOfTwoUsersIsTwoTenants(TestRun run) throws IOException {
        OtherUser other = OtherUser.of(run);
        ManagerProcess manager = manager(run);
        RunningProgram roots = withContext(ofRoot(run, "a", "console"));
        RunningProgram others = withContext(other.program("a", "console"));
        roots.okay("alloc " + 8 * MIB);
        others.okay("alloc " + 8 * MIB);
        roots.okay("fill 0 7");
        others.okay("fill 0 9");
        awaitClients(manager, 2);
        manager.control().okay("{\"request\":\"limit\",\"tenant\":\"a\",\"bytes\":" + 16 * MIB + "}");
        awaitRefusal(run, roots);
        others.okay("alloc " + 32 * MIB);
        others.okay("free 1");
        manager.control().okay("{\"request\":\"limit\",\"tenant\":\"a\",\"bytes\":0}");
        manager.control().okay("{\"request\":\"limit\",\"tenant\":\"a of user " + OtherUser.UID + "\",\"bytes\":" + 16 * MIB + "}");
        awaitRefusal(run, others);
        roots.okay("alloc " + 32 * MIB);
        roots.okay("check 0 7");
        others.okay("check 0 9");
        others.kill();
        awaitClients(manager, 1);
        roots.okay("check 0 7");
        roots.quit().exits(0);
    }

    /** Waits until an allocation is refused: a limit applies once the manager has sent it to the executor. */
    private static void awaitRefusal(TestRun run, RunningProgram program) {
        run.expectLine("limit");
        run.expectClientError("limit");
        Await.until("the limit holds", BOUND, () -> {
            String answer = program.ask("alloc " + 32 * MIB);
            if (!answer.startsWith("ok ")) {
                assertTrue(answer.matches(".*\\b" + OUT_OF_MEMORY + "\\b.*"), answer);
                return true;
            }
            program.okay("free " + answer.substring(3));
            return false;
        });
    }

    /** A manager sees what its programs do, so programs of root do not use another user's manager. */
    @Test
    void rootsProgramsDoNotUseAnotherUsersManager(TestRun run) throws IOException {
        OtherUser other = OtherUser.of(run);
        Path folder = other.folder("theirs");
        String runtime = folder.resolve("rt").toString();
        String segments = folder.resolve("shm").toString();
        String why = "the manager at " + runtime + " belongs to user " + OtherUser.UID + ", not to you or root: not used";
        run.expectLine(why.replace("/", "."));
        other.tessera("manager", "start").env("TESSERA_RUNTIME_DIR", runtime).env("TESSERA_SHM_DIR", segments)
                .env("TESSERA_EXECUTORS", "software").start().end(BOUND).exits(0);
        try {
            for (String share : List.of("time", "space")) {
                RunningProgram program = run.program("console").env("TESSERA_SHARE", share).env("TESSERA_RUNTIME_DIR", runtime).start();
                program.ask("init");
                assertEquals("[]", clientsOf(other, runtime, segments), share);
                ProgramResult result = program.quit().exits(0);
                assertEquals(1, result.libraryLines().stream().filter(line -> line.contains(why)).count(), result::toString);
            }
        } finally {
            other.tessera("manager", "stop", "--programs", "--yes").env("TESSERA_RUNTIME_DIR", runtime)
                    .env("TESSERA_SHM_DIR", segments).start().end(BOUND);
        }
    }

    private static String clientsOf(OtherUser other, String runtime, String segments) {
        ProgramResult result = other.tessera("status", "--json").env("TESSERA_RUNTIME_DIR", runtime).env("TESSERA_SHM_DIR", segments)
                .start().end(BOUND).exits(0);
        return JsonParser.parseString(String.join("", result.output())).getAsJsonObject().getAsJsonArray("clients").toString();
    }

    /** This user cannot see whether a manager runs there, so no command may say that there is none. */
    @Test
    void aRuntimeDirectoryOfAnotherUserIsSaidToBeThat(TestRun run) throws IOException {
        OtherUser other = OtherUser.of(run);
        run.expectLine("whether a manager runs there is not known");
        Path hidden = Files.createDirectory(run.directory().resolve("hidden"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        for (List<String> command : List.of(List.of("status"), List.of("evict", "alice"), List.of("manager", "status"), List.of("manager", "stop"),
                List.of("manager", "stop", "--programs", "--yes"))) {
            ProgramResult result = other.tessera(command.toArray(String[]::new)).env("TESSERA_RUNTIME_DIR", hidden.toString()).start().end(BOUND)
                    .exits(1);
            assertTrue(result.errors().getFirst().startsWith("tessera: the runtime directory " + hidden)
                    && result.errors().getFirst().contains("whether a manager runs there is not known"), result::toString);
        }
    }

    @Test
    void connectionsOfAnotherUserKeepNobodyWaiting(TestRun run) throws IOException {
        OtherUser other = OtherUser.of(run);
        ManagerProcess manager = manager(run);
        RunningProgram roots = ofRoot(run, "a", "relay_guest", "1").start().awaitLine("ready");
        long pid = executor(manager.control().status()).get("pid").getAsLong();
        Path directory = run.runtimeDirectory();
        RunningProgram asking = other.program("b", "raw_client", directory.resolve("control.sock").toString(), "hoard", "64")
                .without("LD_PRELOAD").start().awaitLine("hoarded");
        for (int i = 0; i < 8; i++) {
            assertEquals(1, manager.control().status().getAsJsonArray("clients").size());
        }
        RunningProgram knocking = other.program("b", "raw_client", directory.resolve("executors/executor-0.sock").toString(), "hoard", "257")
                .without("LD_PRELOAD").start().awaitLine("hoarded");
        endsRight(ofRoot(run, "c", "relay_guest", "3").start().awaitLine("ready"));
        endsRight(roots);
        assertEquals(pid, executor(manager.control().status()).get("pid").getAsLong(), "the executor was restarted");
        assertTrue(asking.process().isAlive() && knocking.process().isAlive(), "the connections ended too early to show anything");
        asking.close();
        knocking.close();
    }
}
