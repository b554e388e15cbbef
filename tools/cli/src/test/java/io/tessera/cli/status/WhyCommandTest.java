package io.tessera.cli.status;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.cli.CommandRun;
import io.tessera.cli.ScriptedControlServer;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(120)
class WhyCommandTest {
    private static final String GPU = "NVIDIA H200 GPU-00000000-0000-0000-0000-000000000001";

    @TempDir
    private Path folder;

    private CommandRun why(String answer, String... arguments) throws IOException {
        return answered(resource(answer), arguments);
    }

    private static String resource(String name) throws IOException {
        try (InputStream stream = WhyCommandTest.class.getResourceAsStream(name)) {
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8).replace("\n", "") + "\n";
        }
    }

    private CommandRun answered(String answer, String... arguments) throws IOException {
        try (ScriptedControlServer _ = new ScriptedControlServer(folder.resolve("control.sock"), answer)) {
            return CommandRun.of(folder, arguments);
        }
    }

    @Test
    void whoWaitsIsToldForWhomSinceWhenByWhichRuleAndWhatChangesIt() throws IOException {
        CommandRun run = why("exclusive.json", "why", "bob");
        assertEquals("bob (pid 1002) has waited 110.0 ms for its turn on " + GPU + ": alice (pid 1001) has held it for 120.0 ms.\n"
                + "  scheduler auto: both tenants keep the GPU busy\n"
                + "  policy fair, turns of 500.0 ms; nothing is set for this tenant\n"
                + "  it had 20 turns, 10.0 s in all, and waited 10.1 s\n"
                + "  to change it: tessera tenant 'bob' --weight N gives it more of the time; tessera policy priority lets an interactive tenant go first\n"
                + "  to change it: tessera scheduler off has everybody run at once, where memory suffices\n", run.out());
        assertEquals(0, run.code());
    }

    @Test
    void whoIsKeptByItsCapIsToldSo() throws IOException {
        CommandRun run = why("capped.json", "why", "carl");
        assertTrue(run.out().startsWith("carl (pid 1001) has waited 6.4 s for its turn on " + GPU
                + ": nobody holds it: this tenant has had as much as its cap allows for now.\n"), run.out());
        assertTrue(run.out().contains("set for this tenant: at most 0.001 %\n"), run.out());
        assertTrue(run.out().contains("to change it: tessera tenant 'carl' --cap SHARE (or --soft-cap) lets it have more of the time\n"), run.out());
    }

    @ParameterizedTest
    @ValueSource(strings = {"(another user's)", "0"})
    void anotherUsersProgramsAreNotExplained(String name) throws IOException {
        assertEquals(1, why("capped.json", "why", name).code());
    }

    @Test
    void whoHoldsIsToldWhoWaits() throws IOException {
        CommandRun run = why("exclusive.json", "why", "1001");
        assertTrue(run.out().startsWith("alice (pid 1001) has held " + GPU + " for 120.0 ms; 1 waits for the turn to end.\n"), run.out());
        assertTrue(run.out().contains("set for this tenant: weight 3, priority -2, interactive, at most 12.5 %"), run.out());
    }

    @Test
    void whoHasNoContextIsToldSo() throws IOException {
        assertTrue(why("exclusive.json", "why", "dave").out().startsWith("dave (pid 1004) has no context on a GPU yet"));
    }

    @Test
    void everybodyRuns() throws IOException {
        CommandRun run = why("free.json", "why", "t");
        assertTrue(run.out().contains("may run on"), run.out());
    }

    @Test
    void anAdministratorNamesAnotherUsersTenantAsCommandsDo() throws IOException {
        String others = resource("exclusive.json").replace("\"pid\":1002,\"uid\":1000", "\"pid\":1002,\"uid\":1001");
        CommandRun run = answered(others, "why", "bob of user 1001");
        assertEquals(0, run.code(), run.err());
        assertTrue(run.out().contains("to change it: tessera tenant 'bob of user 1001' --weight N"), run.out());
    }

    @Test
    void jsonHasTheSameFields() throws IOException {
        CommandRun run = why("exclusive.json", "why", "bob", "--json");
        assertTrue(run.out().startsWith("{\"tenant\":\"bob\",\"pid\":1002,\"device\":\"GPU-00000000-0000-0000-0000-000000000001\",\"way\":\"time\","
                + "\"state\":\"waits\",\"sinceNs\":110000000,\"waitsFor\":\"alice\",\"sentence\":"), run.out());
    }

    @Test
    void anUnknownTenantIsAFailure() throws IOException {
        CommandRun run = why("exclusive.json", "why", "zoe");
        assertEquals(1, run.code());
        assertTrue(run.err().startsWith("tessera: no program of yours has the name or the process number zoe"), run.err());
    }
}
