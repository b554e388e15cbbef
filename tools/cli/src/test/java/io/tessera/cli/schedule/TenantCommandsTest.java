package io.tessera.cli.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.cli.CommandRun;
import io.tessera.cli.ScriptedControlServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(120)
class TenantCommandsTest {
    private static final String TERMS = "{\"ok\":true,\"tenant\":\"alice\",\"terms\":{\"weight\":%d,\"priority\":0,\"class\":\"%s\",\"hardCap\":%s,"
            + "\"softCap\":1,\"targetNs\":0,\"replayable\":false},\"policies\":[\"%s\"],\"unused\":[%s]}\n";

    @TempDir
    private Path folder;

    private CommandRun answered(String request, String answer, String... arguments) throws IOException {
        try (ScriptedControlServer server = new ScriptedControlServer(folder.resolve("control.sock"), answer)) {
            CommandRun run = CommandRun.of(folder, arguments);
            assertEquals(List.of(request), server.requests());
            return run;
        } finally {
            Files.delete(folder.resolve("control.sock"));
        }
    }

    @Test
    void aPolicyIsSet() throws IOException {
        assertEquals(new CommandRun(0, "policy fair\n", ""),
                answered("{\"request\":\"policy\",\"policy\":\"fair\"}", "{\"ok\":true}\n", "policy", "fair"));
    }

    @Test
    void clientsAtOnceAreSet() throws IOException {
        String answer = TERMS.formatted(1, "batch", "1", "fair", "").replace("\"replayable\":false", "\"replayable\":false,\"clients\":2");
        assertEquals(new CommandRun(0, "alice: at most 2 clients at once; policy fair\n", ""), answered(
                "{\"request\":\"tenant\",\"tenant\":\"alice\",\"set\":{\"clients\":2},\"ahead\":true}", answer, "tenant", "alice", "--clients", "2",
                "--ahead"));
        assertEquals("alice: nothing is set; policy fair\n", answered("{\"request\":\"tenant\",\"tenant\":\"alice\",\"set\":{\"clients\":0}}",
                TERMS.formatted(1, "batch", "1", "fair", ""), "tenant", "alice", "--clients", "0").out());
        for (String wrong : List.of("-1", "1000001", "1.5", "x")) {
            assertEquals(2, CommandRun.of(folder, "tenant", "alice", "--clients=" + wrong).code());
        }
    }

    @Test
    void anOrderThatDoesNotSurviveSaysSo() throws IOException {
        String answer = "{\"ok\":true,\"notKept\":[\"the disk is full\"]}\n";
        String warning = "tessera: the disk is full\n";
        assertEquals(new CommandRun(0, "policy fair\n", warning),
                answered("{\"request\":\"policy\",\"policy\":\"fair\"}", answer, "policy", "fair"));
        assertEquals(new CommandRun(0, "quantum 50.0 ms\n", warning),
                answered("{\"request\":\"quantum\",\"ns\":50000000}", answer, "quantum", "50ms"));
        assertEquals(new CommandRun(0, "scheduler on\n", warning),
                answered("{\"request\":\"scheduler\",\"mode\":\"on\"}", answer, "scheduler", "on"));
        CommandRun status = answered("{\"request\":\"status\"}",
                "{\"ok\":true,\"manager\":{\"pid\":1,\"ordersProblem\":\"the disk is full\"},\"devices\":[],\"clients\":[]}\n", "status");
        assertTrue(status.out().contains("\nthe disk is full\n"), status.out());
    }

    @Test
    void policiesAreListedWithThoseOfTheDevices() throws IOException {
        String status = "{\"ok\":true,\"manager\":{\"pid\":1},\"devices\":[{\"uuid\":\"GPU-1\",\"name\":\"H200\",\"policy\":\"priority\"}]}\n";
        CommandRun run = answered("{\"request\":\"status\"}", status, "policy");
        assertEquals(0, run.code(), run.err());
        assertTrue(run.out().contains("round-robin  weight"), run.out());
        assertTrue(run.out().endsWith("\nH200, GPU-1: priority\n"), run.out());
        run = answered("{\"request\":\"status\"}", status, "policy", "--json");
        assertTrue(run.out().startsWith("{\"devices\":{\"GPU-1\":\"priority\"},\"policies\":{\"fifo\":"), run.out());
        String space = "{\"ok\":true,\"manager\":{\"pid\":1},\"devices\":[],\"executors\":[{\"uuid\":\"GPU-2\",\"name\":\"Software\",\"turns\":"
                + "{\"policy\":\"fair\",\"use\":\"auto\",\"now\":true}}]}\n";
        run = answered("{\"request\":\"status\"}", space, "policy");
        assertTrue(run.out().endsWith("\nSoftware, GPU-2, by space: fair\n") && !run.out().contains("no device"), run.out());
        run = answered("{\"request\":\"status\"}", space, "policy", "--json");
        assertTrue(run.out().startsWith("{\"devices\":{\"GPU-2\":\"fair\"},"), run.out());
    }

    @Test
    void everyTermIsSent() throws IOException {
        CommandRun run = answered(
                "{\"request\":\"tenant\",\"tenant\":\"alice\",\"set\":{\"weight\":3,\"priority\":-5,\"class\":\"interactive\",\"hardCap\":0.25,"
                        + "\"softCap\":0.125,\"targetNs\":20000000,\"replayable\":true},\"reset\":true,\"ahead\":true}",
                TERMS.formatted(3, "interactive", "0.25", "round-robin", "\"class\""),
                "tenant", "alice", "--weight", "3", "--priority=-5", "--class", "interactive", "--cap", "25%", "--soft-cap", "12.5 %", "--target",
                "20ms", "--replayable", "yes",
                "--reset", "--ahead");
        assertEquals(new CommandRun(0, "alice: weight 3, interactive, at most 25 %; policy round-robin\n",
                "tessera: round-robin does not look at class: tessera policy lists those that do\n"), run);
    }

    @Test
    void aTenantIsReplayableOrIsNot() throws IOException {
        String no = TERMS.formatted(1, "batch", "1", "fair", "");
        String yes = no.replace("\"replayable\":false", "\"replayable\":true");
        String request = "{\"request\":\"tenant\",\"tenant\":\"alice\",\"set\":{\"replayable\":%s}}";
        assertEquals(new CommandRun(0, "alice: replayable; policy fair\n", ""),
                answered(request.formatted(true), yes, "tenant", "alice", "--replayable", "yes"));
        assertEquals(new CommandRun(0, "alice: nothing is set; policy fair\n", ""),
                answered(request.formatted(false), no, "tenant", "alice", "--replayable=no"));
        String json = answered(request.formatted(true), yes, "tenant", "alice", "--replayable=yes", "--json").out();
        assertTrue(json.contains("\"replayable\":true"), json);
    }

    @Test
    void whereItDoesNotHoldIsSaid() throws IOException {
        String answer = TERMS.formatted(3, "batch", "1", "fair", "").replace("}\n", ",\"notKept\":[\"GPU-1: set to off\"]}\n");
        assertEquals(new CommandRun(0, "alice: weight 3; policy fair\n", "tessera: GPU-1: set to off\n"),
                answered("{\"request\":\"tenant\",\"tenant\":\"alice\",\"set\":{\"weight\":3}}", answer, "tenant", "alice", "--weight", "3"));
    }

    @Test
    void withoutOptionsItIsShown() throws IOException {
        String request = "{\"request\":\"tenant\",\"tenant\":\"alice\"}";
        String nothing = TERMS.formatted(1, "batch", "1", "fair", "");
        assertEquals(new CommandRun(0, "alice: nothing is set; policy fair\n", ""), answered(request, nothing, "tenant", "alice"));
        CommandRun json = answered(request, nothing, "tenant", "alice", "--json");
        assertTrue(json.out().startsWith("{\"tenant\":\"alice\",\"terms\":{\"weight\":1,"), json.out());
    }

    @ParameterizedTest
    @ValueSource(strings = {"--priority -5", "--priority=-5"})
    void aPriorityMayBeNegative(String option) throws IOException {
        String[] command = ("tenant alice " + option).split(" ");
        CommandRun run = answered("{\"request\":\"tenant\",\"tenant\":\"alice\",\"set\":{\"priority\":-5}}",
                TERMS.formatted(1, "batch", "1", "fair", ""), command);
        assertEquals(0, run.code(), run.err());
    }

    @ParameterizedTest
    @CsvSource({"policy fastest,a policy is one of fifo", "tenant,TENANT", "tenant alice --weight many,--weight",
            "tenant alice --cap 0%,a share is above 0%",
            "tenant alice --cap 0.5,for example 25%", "tenant alice --cap 101%,at most 100%", "tenant alice --class quick,interactive",
            "tenant alice --target 5,ns us ms", "tenant alice --replayable maybe,'--replayable': expected one of [yes no]",
            "tenant alice --replayable,--replayable",
            "tenant alice --weight 0,--weight: weight 0: must be from 1 to 1000000", "tenant alice --weight=-1,--weight: weight -1",
            "tenant alice --priority 1001,--priority: priority 1001: must be", "tenant alice --target 1441min,--target: target of"})
    void wrongUsageIsCodeTwoAndSaysWhatIsMeant(String line, String expected) throws IOException {
        CommandRun run = CommandRun.of(folder, line.split(" "));
        assertEquals(2, run.code());
        assertTrue(run.err().replace(",", "").contains(expected), run.err());
    }
}
