package io.tessera.system.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import io.tessera.system.Await;
import io.tessera.system.ManagerProcess;
import io.tessera.system.ProgramLaunch;
import io.tessera.system.ProgramResult;
import io.tessera.system.RunWatcher;
import io.tessera.system.RunningProgram;
import io.tessera.system.TesseraCommand;
import io.tessera.system.TestRun;
import io.tessera.testing.BuildOutputs;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The manager chooses a device for programs that {@code tessera run} starts, and bounds the number of programs of a tenant. */
@ExtendWith(RunWatcher.class)
class PlacementTest {
    private static final Duration TOLD = Duration.ofSeconds(30);
    private static final String SCRIPTED = "GPU-5c2197ed-1000-4000-8000-00000000000";
    /** The scripted driver does not look at the variable. */
    private static final String CONSOLE = "TESSERA_SCRIPT=\"visible ${CUDA_VISIBLE_DEVICES#" + SCRIPTED + "}\" exec "
            + BuildOutputs.fixture("console");

    private static ProgramLaunch scripted(TestRun run, String name, String... options) {
        return TesseraCommand.tessera(run, "run", "--share", "time", "--name", name).with(options).with("--", "sh", "-c", CONSOLE)
                .script("devices 2");
    }

    private static ProgramLaunch software(TestRun run, String... options) {
        return TesseraCommand.tessera(run, "run", "--share", "space").with(options).with("--", BuildOutputs.fixture("relay_guest").toString());
    }

    private static void endsRight(RunningProgram guest) {
        guest.tell("");
        guest.end(TOLD).exits(0).says("right");
    }

    private static ManagerProcess withTwoSoftwareGpus(TestRun run, String... options) {
        String[] all = new String[options.length + 6];
        System.arraycopy(new String[] {"--executors", "software", "--software-devices", "2", "--software-memory", "256MiB"}, 0, all, 0, 6);
        System.arraycopy(options, 0, all, 6, options.length);
        return run.manager(all);
    }

    private static String placed(ManagerProcess manager, RunningProgram program) {
        return manager.control().client(program.pid()).getAsJsonObject("placement").get("device").getAsString();
    }

    private static List<Integer> clientsOfExecutors(ManagerProcess manager) {
        JsonArray executors = manager.control().status().getAsJsonArray("executors");
        return executors.asList().stream().map(JsonElement::getAsJsonObject).map(executor -> executor.getAsJsonArray("clients").size()).toList();
    }

    /** Both programs ask for a device before either of them is connected; each sees one device, and is on it. */
    @Test
    void twoThatStartAtOnceGetADeviceEachInTurns(TestRun run) {
        ManagerProcess manager = run.manager("--executors", "none", "--placement", "spread");
        RunningProgram first = scripted(run, "first").start();
        RunningProgram second = scripted(run, "second").start();
        first.openDevice();
        second.openDevice();
        assertEquals(Set.of(SCRIPTED + 0, SCRIPTED + 1), Set.of(placed(manager, first), placed(manager, second)));
        for (RunningProgram program : List.of(first, second)) {
            assertEquals(placed(manager, program), manager.control().client(program.pid()).getAsJsonArray("devices").get(0).getAsJsonObject()
                    .get("uuid").getAsString());
        }
        List<String> why = TesseraCommand.tessera(run, "why", "second").run().exits(0).output();
        String chosen = "  the manager chose " + placed(manager, second)
                + " for it (spread): of 2 devices with an eighth of its memory free it has the"
                + " fewest clients: 0, and ";
        assertTrue(why.stream().anyMatch(line -> line.startsWith(chosen)), why::toString);
        first.quit().exits(0);
        second.quit().exits(0);
    }

    @Test
    void twoThatStartAtOnceGetADeviceEachInSpace(TestRun run) {
        ManagerProcess manager = withTwoSoftwareGpus(run);
        RunningProgram first = software(run, "--device", "auto").start();
        RunningProgram second = software(run, "--device", "auto", "--wait").start();
        first.awaitLine("ready");
        second.awaitLine("ready");
        Await.until("each executor has one", TOLD, () -> clientsOfExecutors(manager).equals(List.of(1, 1)),
                () -> manager.control().status().toString());
        assertFalse(placed(manager, first).equals(placed(manager, second)));
        endsRight(first);
        endsRight(second);
    }

    @Test
    void packPutsBothOnOneDeviceWhileTheirMemoryFits(TestRun run) {
        ManagerProcess manager = withTwoSoftwareGpus(run, "--placement", "pack");
        RunningProgram first = software(run, "--memory", "96MiB").start();
        RunningProgram second = software(run, "--memory", "96MiB").start();
        RunningProgram third = software(run, "--memory", "96MiB").start();
        List.of(first, second, third).forEach(program -> program.awaitLine("ready"));
        Await.until("two on one device, one on the other", TOLD,
                () -> new TreeSet<>(clientsOfExecutors(manager)).equals(Set.of(1, 2)), () -> manager.control().status().toString());
        List.of(first, second, third).forEach(PlacementTest::endsRight);
    }

    /** The default: a program may use all devices. */
    @Test
    void withoutARuleWhoAsksForNothingSeesAllDevices(TestRun run) {
        ManagerProcess manager = run.manager("--executors", "none");
        String show = "echo \"[${CUDA_VISIBLE_DEVICES-all}]\"";
        TesseraCommand.tessera(run, "run", "--share", "time", "--", "sh", "-c", show).script("devices 2").run().exits(0).says("[all]");
        assertFalse(Files.exists(run.runtimeDirectory().resolve("placement")));
        TesseraCommand.tessera(run, "run", "--share", "time", "--device", "auto", "--", "sh", "-c", show).script("devices 1").run().exits(0)
                .says("[all]");
        TesseraCommand.tessera(run, "run", "--share", "time", "--device", "auto", "--", "sh", "-c", show).script("devices 2").run().exits(0)
                .says("[" + SCRIPTED + "0]");
        TesseraCommand.tessera(run, "run", "--share", "time", "--device", "auto", "--", "sh", "-c", show).script("devices 2")
                .env("CUDA_VISIBLE_DEVICES", "5,6").run().exits(0).says("[5]");
        assertEquals("none", manager.control().status().getAsJsonObject("manager").get("placement").getAsString());
    }

    @Test
    void aTenantOfOneClientHasOneAtOnce(TestRun run) {
        ManagerProcess manager = run.manager("--executors", "none");
        String full = "tenant \"team\" has as many clients at once as it may have: 1 \\(clients in tessera.toml, or tessera tenant\\)";
        TesseraCommand.tessera(run, "tenant", "team", "--clients", "1", "--ahead").run().exits(0)
                .says("team: at most 1 client at once; policy round-robin");
        RunningProgram first = run.program("console").tenant("team").start();
        first.openDevice();
        RunningProgram other = run.program("console").tenant("other").start();
        other.openDevice();
        run.expectLog("a client was refused");
        run.expectLine(".*" + full + ".*");
        ProgramResult refused = TesseraCommand.tessera(run, "run", "--name", "team", "--require", "--", BuildOutputs.fixture("linked").toString())
                .run();
        assertTrue(
                refused.exit() != 0
                        && refused.errors().stream().anyMatch(line -> line.matches(".*" + full + "; tessera run --wait waits for a place.*")),
                refused::toString);
        ProgramResult notStarted = scripted(run, "team", "--device", "auto").run().exits(75);
        assertTrue(
                notStarted.errors().stream().anyMatch(line -> line.matches("tessera: there is no place for the program now, so it was not started: "
                        + full + "; tessera run --wait waits for one")),
                notStarted::toString);
        RunningProgram waits = scripted(run, "team", "--device", "auto", "--wait").start();
        Await.until("it waits", TOLD, () -> waiting(manager).equals("1"), () -> manager.control().status().toString());
        first.quit().exits(0);
        waits.openDevice();
        assertTrue(placed(manager, waits).startsWith(SCRIPTED));
        waits.quit().exits(0);
        other.quit().exits(0);
    }

    private static String waiting(ManagerProcess manager) {
        JsonObject status = manager.control().status();
        return status.has("waiting") ? status.getAsJsonArray("waiting").get(0).getAsJsonObject().get("place").getAsString() : "";
    }
}
