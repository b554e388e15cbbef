package io.tessera.cli.admission;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.cli.CommandRun;
import io.tessera.cli.ScriptedControlServer;
import io.tessera.os.linux.Linux;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class AdmissionCommandTest {
    private static final String ADMITTED = "{\"ok\":true,\"admitted\":true,\"place\":0,\"waiting\":0,\"reason\":\"\"}\n";
    private static final String SECOND = "{\"ok\":true,\"admitted\":false,\"place\":2,\"waiting\":2,\"reason\":\"full\\u001b[2J\"}\n";
    private static final String FIRST = "{\"ok\":true,\"admitted\":false,\"place\":1,\"waiting\":1,\"reason\":\"full\"}\n";

    private final long parent = ProcessHandle.current().parent().orElseThrow().pid();

    @TempDir
    private Path folder;

    private Path socket() {
        return folder.resolve("control.sock");
    }

    private CommandRun run(boolean terminal, String... more) throws IOException {
        String[] arguments = new String[3 + more.length];
        arguments[0] = "admission";
        arguments[1] = "--tenant=alice";
        arguments[2] = "--process=" + parent;
        System.arraycopy(more, 0, arguments, 3, more.length);
        return CommandRun.of(folder, terminal, Map.of(), arguments);
    }

    @Test
    void whoIsAdmittedSaysNothing() throws Exception {
        try (ScriptedControlServer server = new ScriptedControlServer(socket(), ADMITTED)) {
            assertEquals(new CommandRun(0, "", ""), run(false, "--guarantee=64", "--device=GPU-11112222-3333-4444-5555-666677778888"));
            assertEquals(List.of("{\"request\":\"admission\",\"tenant\":\"alice\",\"pid\":" + parent + ",\"startTicks\":"
                    + Linux.open().processes().startTicks((int) parent)
                    + ",\"guaranteeBytes\":64,\"device\":\"GPU-11112222-3333-4444-5555-666677778888\"}"), server.requests());
        }
    }

    @Test
    void aPlaceIsSaidOnceUntilItChanges() throws Exception {
        try (ScriptedControlServer _ = new ScriptedControlServer(socket(), SECOND, SECOND, FIRST, ADMITTED)) {
            assertEquals(new CommandRun(0, "", "tessera: place 2 of 2 in the queue: full\\x1b[2J\ntessera: place 1 of 1 in the queue: full\n"),
                    run(false, "--device=0"));
        }
    }

    @Test
    void onATerminalTheLineIsDrawnOverItself() throws Exception {
        try (ScriptedControlServer _ = new ScriptedControlServer(socket(), SECOND, FIRST, ADMITTED)) {
            assertEquals("\r\u001b[Ktessera: place 2 of 2 in the queue\r\u001b[Ktessera: place 1 of 1 in the queue\r\u001b[K", run(true).err());
        }
    }

    @Test
    void afterItsTimeItLeaves() throws Exception {
        try (ScriptedControlServer server = new ScriptedControlServer(socket(), FIRST)) {
            CommandRun result = run(false, "--seconds=0");
            assertEquals(75, result.code());
            assertTrue(result.err().endsWith("tessera: no place within 0 s, so the program was not started: full\n"), result.err());
            assertTrue(server.requests().getLast().endsWith(",\"leave\":true}"), server.requests().toString());
        }
    }

    @Test
    void aManagerThatIsAwayIsAskedAgain() throws Exception {
        try (ScriptedControlServer _ = new ScriptedControlServer(socket(), FIRST, "", "", FIRST, ADMITTED)) {
            assertEquals(new CommandRun(0, "", "tessera: place 1 of 1 in the queue: full\ntessera: the manager is away; asking again\n"
                    + "tessera: place 1 of 1 in the queue: full\n"), run(false));
        }
    }

    @Test
    void refusalsAndNoManagerEndIt() throws Exception {
        assertEquals(3, run(false).code());
        try (ScriptedControlServer _ = new ScriptedControlServer(socket(), FIRST, "{\"ok\":false,\"error\":\"no such memory\"}\n")) {
            CommandRun result = run(false);
            assertEquals(1, result.code());
            assertTrue(result.err().endsWith("tessera: the manager refuses: no such memory\n"), result.err());
        }
    }

    @Test
    void whoseShellIsGoneAsksForNothing() throws Exception {
        try (ScriptedControlServer server = new ScriptedControlServer(socket(), FIRST)) {
            assertEquals(75, CommandRun.of(folder, "admission", "--tenant=alice", "--process=1999999999").code());
            assertEquals(List.of(), server.requests());
        }
    }
}
