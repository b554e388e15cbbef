package io.tessera.cli.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.cli.ScriptedControlServer;
import io.tessera.cli.context.ExitCode;
import io.tessera.cli.control.ControlException.Kind;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(30)
class ControlClientTest {
    private static final Duration SHORT = Duration.ofMillis(200);

    @TempDir
    private Path folder;

    private ControlException failure(Duration patience) {
        ControlClient client = new ControlClient(folder.resolve("control.sock"), patience);
        return assertThrows(ControlException.class, () -> client.ask("ping"));
    }

    private ControlException failureOn(String answer) throws IOException {
        try (ScriptedControlServer _ = new ScriptedControlServer(folder.resolve("control.sock"), answer)) {
            return failure(ControlClient.PATIENCE);
        }
    }

    @Test
    void anAnswerComesBackAndTheRequestIsOneLine() throws Exception {
        try (ScriptedControlServer server = new ScriptedControlServer(folder.resolve("control.sock"),
                "{\"ok\":true,\"version\":\"1\"}\n")) {
            ControlClient client = new ControlClient(folder.resolve("control.sock"), ControlClient.PATIENCE);
            assertEquals("1", client.ask("ping").get("version").getAsString());
            assertEquals(List.of("{\"request\":\"ping\"}"), server.requests());
        }
    }

    @Test
    void aLongAnswerInManyPiecesIsReadWhole() throws Exception {
        String text = "x".repeat(1_000_003);
        try (ScriptedControlServer _ = new ScriptedControlServer(folder.resolve("control.sock"),
                "{\"ok\":true,\"text\":\"" + text + "\"}\n")) {
            ControlClient client = new ControlClient(folder.resolve("control.sock"), ControlClient.PATIENCE);
            assertEquals(text, client.ask("status").get("text").getAsString());
        }
    }

    @Test
    void noSocketIsNoManager() {
        ControlException e = failure(ControlClient.PATIENCE);
        assertEquals(Kind.NO_MANAGER, e.kind());
        assertEquals(ExitCode.NO_MANAGER, e.exitCode());
        assertTrue(e.getMessage().contains("tessera manager start"), e.getMessage());
    }

    @Test
    void aSocketThatNobodyListensOnIsNoManager() throws Exception {
        try (ServerSocketChannel dead = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            dead.bind(UnixDomainSocketAddress.of(folder.resolve("control.sock")));
        }
        assertEquals(Kind.NO_MANAGER, failure(ControlClient.PATIENCE).kind());
    }

    @Test
    void aRefusalCarriesTheReason() throws Exception {
        ControlException e = failureOn("{\"ok\":false,\"error\":\"only root and user 1 may\"}\n");
        assertEquals(Kind.REFUSED, e.kind());
        assertEquals(ExitCode.FAILURE, e.exitCode());
        assertTrue(e.getMessage().contains("only root and user 1 may"), e.getMessage());
    }

    @Test
    void whatIsNoAnswerIsMalformed() throws Exception {
        for (String answer : List.of("\n", "null\n", "[1]\n", "hello\n", "{\"ok\":\n", "{}\n", "{\"ok\":1}\n",
                "{\"ok\":true}", "")) {
            assertEquals(Kind.MALFORMED, failureOn(answer).kind(), answer);
            assertTrue(folder.resolve("control.sock").toFile().delete());
        }
    }

    @Test
    void silenceEndsAfterThePatience() throws Exception {
        try (ScriptedControlServer _ = new ScriptedControlServer(folder.resolve("control.sock"),
                ScriptedControlServer.SILENCE)) {
            ControlException e = failure(SHORT);
            assertEquals(Kind.TIMEOUT, e.kind());
            assertTrue(e.getMessage().contains("200 ms"), e.getMessage());
        }
    }
}
