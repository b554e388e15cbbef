package io.tessera.cli.admission;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.cli.CommandRun;
import io.tessera.cli.ScriptedControlServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code admission --choose}: which devices are found and sent, and how the chosen one is named. */
@Timeout(120)
class DeviceChoiceCommandTest {
    private static final String FIRST = "GPU-11112222-3333-4444-5555-666677778888";
    private static final String SECOND = "GPU-21112222-3333-4444-5555-666677778888";
    private static final String SENT = "\"devices\":[{\"uuid\":\"" + FIRST + "\",\"totalBytes\":100},{\"uuid\":\"" + SECOND
            + "\",\"totalBytes\":200}]";
    private static final String EXECUTORS = "{\"ok\":true,\"settled\":%s,\"software\":%s," + SENT + ",\"reason\":\"\"}\n";
    private static final String CHOSEN = "{\"ok\":true,\"admitted\":true,\"place\":0,\"waiting\":0,\"reason\":\"\",\"placement\":{\"device\":\""
            + SECOND
            + "\",\"rule\":\"spread\",\"reason\":\"r\"}}\n";
    private static final String FULL = "{\"ok\":true,\"admitted\":false,\"place\":1,\"waiting\":1,\"reason\":\"full\"}\n";

    private final long parent = ProcessHandle.current().parent().orElseThrow().pid();

    @TempDir
    private Path folder;

    private ScriptedControlServer server(String... answers) throws IOException {
        return new ScriptedControlServer(folder.resolve("control.sock"), answers);
    }

    private CommandRun choose(Map<String, String> environment, String... more) throws IOException {
        List<String> arguments = new ArrayList<>(List.of("admission", "--tenant=alice", "--process=" + parent, "--choose"));
        arguments.addAll(List.of(more));
        return CommandRun.of(folder, false, environment, arguments.toArray(String[]::new));
    }

    /** A driver with these devices; more than the driver shows by itself is not the command's business. */
    private void driver(String... devices) throws IOException {
        Files.createDirectories(folder.resolve("bin"));
        StringBuilder json = new StringBuilder("{\"driver\":{\"path\":\"/x\",\"version\":1,\"status\":\"ok\"},\"init\":0,\"devices\":[");
        for (int i = 0; i < devices.length; i++) {
            json.append(i == 0 ? "" : ",").append("{\"ordinal\":").append(i).append(",\"uuid\":\"").append(devices[i])
                    .append("\",\"name\":\"H200\",\"totalBytes\":").append(100 * (i + 1)).append('}');
        }
        Path probe = Files.writeString(folder.resolve("bin/tessera-probe"), "#!/bin/sh\ncat <<'END'\n" + json + "]}\nEND\n");
        Files.setPosixFilePermissions(probe, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    @Test
    void theDriversDevicesAreSentAndTheChosenOneIsPrinted() throws Exception {
        driver(FIRST, SECOND);
        try (ScriptedControlServer server = server(CHOSEN)) {
            assertEquals(new CommandRun(0, SECOND + "\n", ""), choose(Map.of(), "--no-wait", "--limit=77"));
            assertTrue(server.requests().getFirst().endsWith(",\"limitBytes\":77," + SENT + "}"), server.requests().toString());
        }
    }

    @Test
    void aDeviceIsNamedAsTheListOfTheProgramNamesIt() throws Exception {
        driver(FIRST, SECOND);
        try (ScriptedControlServer _ = server(CHOSEN)) {
            assertEquals(new CommandRun(0, "5\n", ""), choose(Map.of("CUDA_VISIBLE_DEVICES", "7, 5,99"), "--no-wait"));
        }
    }

    @Test
    void whereThereIsOneDeviceNobodyIsAsked() throws Exception {
        driver(FIRST);
        try (ScriptedControlServer server = server(CHOSEN)) {
            assertEquals(new CommandRun(0, "", ""), choose(Map.of(), "--no-wait"));
            Files.delete(folder.resolve("bin/tessera-probe"));
            assertEquals(new CommandRun(0, "", ""), choose(Map.of(), "--no-wait"));
            assertEquals(List.of(), server.requests());
        }
    }

    @Test
    void whoWaitsForAPlaceWaitsAlsoWithOneDevice() throws Exception {
        driver(FIRST);
        try (ScriptedControlServer server = server(FULL, "{\"ok\":true,\"admitted\":true,\"place\":0,\"waiting\":0,\"reason\":\"\"}\n")) {
            assertEquals(new CommandRun(0, "", "tessera: place 1 of 1 in the queue: full\n"), choose(Map.of()));
            assertTrue(!server.requests().getFirst().contains("devices"), server.requests().toString());
        }
    }

    @Test
    void inSpaceSharingOnSoftwareGpusTheExecutorsDevicesAreSent() throws Exception {
        driver("GPU-31112222-3333-4444-5555-666677778888", "GPU-41112222-3333-4444-5555-666677778888");
        try (ScriptedControlServer server = server(EXECUTORS.formatted(false, false), EXECUTORS.formatted(true, true), CHOSEN,
                EXECUTORS.formatted(true, true), CHOSEN, EXECUTORS.formatted(true, true))) {
            assertEquals(new CommandRun(0, SECOND + "\n", ""), choose(Map.of(), "--no-wait", "--space"));
            assertEquals("{\"request\":\"devices\"}", server.requests().get(1));
            assertTrue(server.requests().get(2).contains(SENT), server.requests().toString());
            assertEquals(new CommandRun(0, "GPU-2\n", ""), choose(Map.of("CUDA_VISIBLE_DEVICES", "GPU-2,0"), "--no-wait", "--space"));
            assertEquals(new CommandRun(0, "", ""), choose(Map.of("CUDA_VISIBLE_DEVICES", "1"), "--no-wait", "--space"));
        }
    }

    @Test
    void inSpaceSharingOnGpusTheProgramSeesWhatItsDriverShows() throws Exception {
        driver(SECOND, FIRST);
        try (ScriptedControlServer _ = server(EXECUTORS.formatted(true, false), CHOSEN)) {
            assertEquals(new CommandRun(0, "0\n", ""), choose(Map.of("CUDA_VISIBLE_DEVICES", "0,1"), "--no-wait", "--space"));
        }
    }

    @Test
    void whoDoesNotWaitIsToldThatThereIsNoPlace() throws Exception {
        driver(FIRST, SECOND);
        try (ScriptedControlServer server = server(FULL)) {
            assertEquals(new CommandRun(75, "",
                    "tessera: there is no place for the program now, so it was not started: full; tessera run --wait waits for one\n"),
                    choose(Map.of(), "--no-wait"));
            assertTrue(server.requests().getLast().endsWith(",\"leave\":true}"), server.requests().toString());
        }
    }

    @Test
    void aManagerThatChoosesNothingIsOfAnotherVersion() throws Exception {
        driver(FIRST, SECOND);
        try (ScriptedControlServer _ = server("{\"ok\":true,\"admitted\":true,\"place\":0,\"waiting\":0,\"reason\":\"\"}\n")) {
            CommandRun run = choose(Map.of(), "--no-wait");
            assertEquals(1, run.code());
            assertTrue(run.err().contains("chooses no device: it is of another version of Tessera"), run.err());
        }
        Files.delete(folder.resolve("control.sock"));
        try (ScriptedControlServer _ = server(CHOSEN.replace(SECOND, "GPU-51112222-3333-4444-5555-666677778888"))) {
            assertTrue(choose(Map.of(), "--no-wait").err().contains("chooses a device that the program does not see"));
        }
    }
}
