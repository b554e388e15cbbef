package io.tessera.cli.residency;

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
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(120)
class ResidencyCommandsTest {
    @TempDir
    private Path folder;

    private void says(String answer, String request, CommandRun expected, String... arguments) throws IOException {
        try (ScriptedControlServer server = new ScriptedControlServer(folder.resolve("control.sock"),
                answer + "\n")) {
            assertEquals(expected, CommandRun.of(folder, arguments));
            assertEquals(List.of(request), server.requests());
        }
    }

    @Test
    void evict() throws IOException {
        says("{\"ok\":true,\"clients\":2}", "{\"request\":\"evict\",\"tenant\":\"alice\"}",
                new CommandRun(0, "alice: 2 clients leaving\n", ""), "evict", "alice");
    }

    @Test
    void evictAndSuspend() throws IOException {
        says("{\"ok\":true,\"clients\":1}", "{\"request\":\"evict\",\"tenant\":\"alice\",\"suspend\":true}",
                new CommandRun(0, "alice: 1 client to be suspended\n", ""), "evict", "alice", "--suspend");
    }

    @Test
    void whoIsNotSuspendedIsNamed() throws IOException {
        says("{\"ok\":true,\"clients\":2,\"notSuspended\":[\"process 7: it shares\\u001b[2J memory\"]}",
                "{\"request\":\"evict\",\"tenant\":\"alice\",\"suspend\":true}",
                new CommandRun(1, "alice: 2 clients leaving\n", "tessera: not suspended: process 7: it shares\\x1b[2J memory\n"),
                "evict", "alice", "--suspend");
    }

    @Test
    void restoreForMachines() throws IOException {
        says("{\"ok\":true,\"clients\":0}", "{\"request\":\"restore\",\"tenant\":\"alice\"}",
                new CommandRun(0, "{\"ok\":true,\"clients\":0}\n", ""), "restore", "--json", "alice");
    }

    @Test
    void whatTheManagerRefusesIsSaid() throws IOException {
        says("{\"ok\":false,\"error\":\"no client of tenant \\\"bob\\\" is on a device\"}",
                "{\"request\":\"restore\",\"tenant\":\"bob\"}",
                new CommandRun(1, "", "tessera: the manager refuses: no client of tenant \"bob\" is on a device\n"),
                "restore", "bob");
    }

    @ParameterizedTest
    @ValueSource(strings = {"evict", "restore", "evict a b", "restore a --suspend"})
    void wrongUsage(String line) throws IOException {
        CommandRun run = CommandRun.of(folder, line.split(" "));
        assertEquals(2, run.code());
        assertTrue(run.err().startsWith("tessera: "), run.err());
    }
}
