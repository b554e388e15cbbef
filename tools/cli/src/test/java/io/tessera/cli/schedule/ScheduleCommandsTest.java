package io.tessera.cli.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.cli.CommandRun;
import io.tessera.cli.ScriptedControlServer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(120)
class ScheduleCommandsTest {
    private static final String UUID = "GPU-01234567-89ab-cdef-0123-456789abcdef";

    @TempDir
    private Path folder;

    private void sends(String request, String output, String... arguments) throws IOException {
        try (ScriptedControlServer server = new ScriptedControlServer(folder.resolve("control.sock"),
                "{\"ok\":true}\n")) {
            CommandRun run = CommandRun.of(folder, arguments);
            assertEquals(new CommandRun(0, output + "\n", ""), run);
            assertEquals(List.of(request), server.requests());
        }
    }

    @Test
    void schedulerOn() throws IOException {
        sends("{\"request\":\"scheduler\",\"mode\":\"on\"}", "scheduler on", "scheduler", "on");
    }

    @Test
    void schedulerOfOneDevice() throws IOException {
        sends("{\"request\":\"scheduler\",\"mode\":\"auto\",\"device\":\"" + UUID + "\"}", "scheduler auto",
                "scheduler", "auto", "--device", UUID);
    }

    @Test
    void quantum() throws IOException {
        sends("{\"request\":\"quantum\",\"ns\":500000000}", "quantum 500.0 ms", "quantum", "500ms");
    }

    @ParameterizedTest
    @ValueSource(strings = {"quantum -5ms", "limit alice -8GiB", "status --watch -1s", "status --watch 1s --count -1"})
    void negativeIsSaidToBeSo(String command) throws IOException {
        CommandRun run = CommandRun.of(folder, command.split(" "));
        assertEquals(2, run.code());
        assertTrue(run.err().contains("is negative"), run.err());
        assertTrue(!command.contains("--count") || run.err().startsWith("tessera: --count -1 is negative"), run.err());
    }

    @Test
    void whatIsNoNumberIsSaidWithItsOption() throws IOException {
        CommandRun run = CommandRun.of(folder, "tenant", "alice", "--weight", "1e9");
        assertEquals(2, run.code());
        assertTrue(run.err().startsWith("tessera: --weight 1e9: a whole number is needed"), run.err());
    }

    @Test
    void quantumOfOneDevice() throws IOException {
        sends("{\"request\":\"quantum\",\"ns\":2000000000,\"device\":\"" + UUID + "\"}", "quantum 2.0 s",
                "quantum", "2s", "--device=" + UUID);
    }

    @Test
    void limitOfATenant() throws IOException {
        sends("{\"request\":\"limit\",\"tenant\":\"alice\",\"bytes\":8589934592}", "alice: 8.0 GiB", "limit", "alice",
                "8GiB");
    }

    @Test
    void limitOfATenantThatComesLater() throws IOException {
        sends("{\"request\":\"limit\",\"tenant\":\"alice\",\"bytes\":1024,\"ahead\":true}", "alice: 1.0 KiB", "limit", "--ahead", "alice", "1KiB");
    }

    @Test
    void noLimitOfATenant() throws IOException {
        sends("{\"request\":\"limit\",\"tenant\":\"alice\",\"bytes\":0}", "alice: no limit", "limit", "alice", "none");
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "8 apples", "-1GiB", "99999999TiB", "x"})
    void whatIsNoLimitIsRefused(String size) throws IOException {
        assertEquals(2, CommandRun.of(folder, "limit", "alice", "--", size).code());
    }

    @Test
    void aTenantsNameHasALength() throws IOException {
        for (String tenant : List.of("", "x".repeat(83), "\u00e4".repeat(42))) {
            CommandRun run = CommandRun.of(folder, "limit", "--ahead", tenant, "1GiB");
            assertEquals(2, run.code(), run.toString());
            assertTrue(run.err().contains("TENANT: a tenant's name has 1 to 82 bytes"), run.err());
        }
        String longest = "x".repeat(63) + " of user 4294967295";
        sends("{\"request\":\"limit\",\"tenant\":\"" + longest + "\",\"bytes\":0,\"ahead\":true}", longest + ": no limit", "limit", "--ahead",
                longest, "none");
    }

    @ParameterizedTest
    @ValueSource(strings = {"500", "0ms", "fast", "-1s", "1h"})
    void whatIsNoQuantumIsRefusedWithWhatIsAccepted(String duration) throws IOException {
        CommandRun run = CommandRun.of(folder, "quantum", "--", duration);
        assertEquals(2, run.code());
        assertTrue(run.err().contains("ns, us, ms, s or min; for example 500ms"), run.err());
    }

    @ParameterizedTest
    @CsvSource({"scheduler sometimes,on", "scheduler,on|off|auto", "quantum,DURATION", "scheduler on --device 0,GPU-",
            "scheduler on --fast,--fast", "frobnicate,frobnicate"})
    void wrongUsageIsCodeTwoAndSaysWhatIsMeant(String line, String expected) throws IOException {
        CommandRun run = CommandRun.of(folder, line.split(" "));
        assertEquals(2, run.code());
        assertTrue(run.err().contains(expected), run.err());
        assertTrue(run.err().startsWith("tessera: "), run.err());
    }

    @Test
    void aRefusalIsCodeOne() throws IOException {
        try (ScriptedControlServer _ = new ScriptedControlServer(folder.resolve("control.sock"),
                "{\"ok\":false,\"error\":\"not for user 7\"}\n")) {
            assertEquals(new CommandRun(1, "", "tessera: the manager refuses: not for user 7\n"),
                    CommandRun.of(folder, "scheduler", "off"));
        }
    }
}
