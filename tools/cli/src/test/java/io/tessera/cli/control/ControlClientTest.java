package io.tessera.cli.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.cli.CommandRun;
import io.tessera.cli.ScriptedControlServer;
import io.tessera.cli.context.ExitCode;
import io.tessera.cli.control.ControlException.Kind;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
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
    void anAnswerHasABound() throws Exception {
        assertTrue(failureOn("x".repeat(ControlClient.MAX_ANSWER_BYTES + (1 << 20))).getMessage().contains("longer than"));
    }

    /** Less than the bound can take more memory than a command has, which has as much as the script gives it. */
    @Test
    void anAnswerThatTakesTooMuchMemoryIsMalformed() throws Exception {
        String[] answers = {"[" + "[],".repeat(ControlClient.MAX_ANSWER_BYTES / 3 - 2) + "[]]\n", "x".repeat(40 << 20)};
        for (String answer : answers) {
            try (ScriptedControlServer _ = new ScriptedControlServer(folder.resolve("control.sock"), answer)) {
                ProcessBuilder builder = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx64m",
                        "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"), "io.tessera.cli.TesseraMain",
                        "status")
                        .redirectErrorStream(true);
                builder.environment().put("TESSERA_RUNTIME_DIR", folder.toString());
                Process command = builder.start();
                String said = new String(command.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                assertEquals(1, command.waitFor(), said);
                assertTrue(said.startsWith("tessera: the manager's answer ") && said.lines().count() == 1, said);
            }
            assertTrue(folder.resolve("control.sock").toFile().delete());
        }
    }

    @Test
    void whatAPeerSaysSteersNoTerminal() throws Exception {
        String[] answers = {"{\"ok\":false,\"error\":\"\\u001b[2J\\u009b2J\"}\n", "\u001b[2J\n",
                "{\"ok\":true,\"manager\":{\"version\":\"\\u001b[2J\",\"runtimeDirectory\":\"\\u009b2J\"},\"clients\":"
                        + "[{\"errors\":[{\"text\":\"\\u001b]0;\"}]}]}\n"};
        for (String[] arguments : new String[][] {{"status"}, {"status", "--json"}, {"doctor"}}) {
            for (String answer : answers) {
                try (ScriptedControlServer _ = new ScriptedControlServer(folder.resolve("control.sock"), answer)) {
                    CommandRun run = CommandRun.of(folder, arguments);
                    assertTrue((run.out() + run.err()).chars().noneMatch(each -> each != '\n' && Character.isISOControl(each)), run.toString());
                    assertFalse((run.out() + run.err()).isEmpty());
                }
                assertTrue(folder.resolve("control.sock").toFile().delete());
            }
        }
    }

    /** What is stopped says nothing of it itself, and logs nothing. */
    @Test
    void aStoppedManagerIsSaidToBe() throws Exception {
        Process stopped = new ProcessBuilder("sleep", "60").start();
        try (ScriptedControlServer _ = new ScriptedControlServer(folder.resolve("control.sock"), ScriptedControlServer.SILENCE)) {
            Files.writeString(folder.resolve("manager.pid"), stopped.pid() + "\n");
            assertTrue(failure(SHORT).getMessage().contains("tessera manager logs"));
            assertEquals(0, new ProcessBuilder("kill", "-STOP", Long.toString(stopped.pid())).start().waitFor());
            String message = failure(SHORT).getMessage();
            assertTrue(message.contains("kill -CONT " + stopped.pid()), message);
        } finally {
            stopped.destroyForcibly();
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
