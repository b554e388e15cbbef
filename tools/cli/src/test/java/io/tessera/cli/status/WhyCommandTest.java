package io.tessera.cli.status;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.cli.CommandRun;
import io.tessera.cli.ScriptedControlServer;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
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
    void whyTheManagerChoseTheWayIsTold() throws IOException {
        String answer = resource("exclusive.json").replace("\"pid\":1002,", "\"pid\":1002,\"sharing\":\"a program shares by time\",");
        CommandRun run = answered(answer, "why", "bob");
        assertTrue(run.out().contains("\n  it shares by time (--share auto): a program shares by time\n"), run.out());
        Files.delete(folder.resolve("control.sock"));
        assertFalse(answered(answer, "why", "alice").out().contains("--share auto"), "it was told what to do");
    }

    @Test
    void whoIsKeptByItsCapIsToldSo() throws IOException {
        CommandRun run = why("capped.json", "why", "carl");
        assertTrue(run.out().startsWith("carl (pid 1001) has waited 6.4 s for its turn on " + GPU
                + ": nobody holds it: this tenant has had as much as its cap allows for now.\n"), run.out());
        assertTrue(run.out().contains("set for this tenant: at most 0.001 %\n"), run.out());
        assertTrue(run.out().contains("to change it: tessera tenant 'carl' --cap SHARE (or --soft-cap) lets it have more of the time\n"), run.out());
    }

    @Test
    void aProgramThatWaitsForAPlaceIsExplained() throws Exception {
        String answer = "{\"ok\":true,\"manager\":{\"pid\":5,\"uid\":0},\"devices\":[],\"clients\":[],\"waiting\":["
                + "{\"place\":0,\"pid\":7,\"uid\":0,\"tenant\":\"next\",\"waitingNs\":1,\"reason\":\"\","
                + "\"placement\":{\"device\":\"GPU-2\",\"rule\":\"pack\",\"reason\":\"of 2 devices it has least\"}},"
                + "{\"place\":2,\"pid\":8,\"uid\":0,\"tenant\":\"later\",\"waitingNs\":2000000000,\"reason\":\"as many clients as may be: 2\"},"
                + "{\"place\":1,\"pid\":0,\"uid\":-1,\"tenant\":\"(another user's)\",\"waitingNs\":1,\"reason\":\"\"}]}\n";
        assertEquals("later (pid 8) has not started: it is at place 2 in the queue, and has waited for 2.0 s.\n  as many clients as may be: 2\n",
                answered(answer, "why", "8").out());
        Files.delete(folder.resolve("control.sock"));
        assertEquals("next (pid 7) has not made its first CUDA call yet: a place is kept for it until then.\n"
                + "  the manager chose GPU-2 for it (pack): of 2 devices it has least\n", answered(answer, "why", "next").out());
        Files.delete(folder.resolve("control.sock"));
        assertEquals(1, answered(answer, "why", "(another user's)").code());
    }

    /** Only on that device: a program may have gone to another one by itself. */
    @Test
    void theChoiceOfTheDeviceIsExplained() throws Exception {
        String answer = "{\"ok\":true,\"manager\":{\"pid\":5,\"uid\":0},\"devices\":[{\"uuid\":\"GPU-2\",\"name\":\"H200\"},{\"uuid\":\"GPU-3\","
                + "\"name\":\"H200\"}],\"clients\":[{\"id\":7,\"pid\":9,\"uid\":0,\"tenant\":\"dora\",\"plan\":\"plain\",\"placement\":{\"device\":"
                + "\"GPU-2\",\"rule\":\"spread\",\"reason\":\"of 2 devices with 8.0 GiB free it has the fewest clients: 1, and 12.0 GiB free\\u001b\"},"
                + "\"devices\":[{\"uuid\":\"GPU-2\"},{\"uuid\":\"GPU-3\"}]}]}\n";
        String text = answered(answer, "why", "dora").out();
        String line = "  the manager chose GPU-2 for it (spread): of 2 devices with 8.0 GiB free it has the fewest clients: 1, and 12.0 GiB free\\x1b\n";
        assertTrue(text.contains(line), text);
        assertEquals(text.indexOf(line), text.lastIndexOf(line));
    }

    @Test
    void whoseWorkIsHeldBackInSpaceIsToldSo() throws IOException {
        String answer = "{\"ok\":true,\"manager\":{\"pid\":5,\"uid\":0},\"devices\":[],\"clients\":[{\"id\":7,\"pid\":9,\"uid\":0,\"tenant\":\"dora\","
                + "\"plan\":\"relay\",\"devices\":[]}],\"executors\":[{\"ordinal\":0,\"uuid\":\"GPU-1\",\"name\":\"H200\",\"state\":\"ready\","
                + "\"turns\":{\"policy\":\"fair\",\"use\":\"auto\",\"now\":true},\"clients\":[{\"client\":7,\"pid\":9,\"tenant\":\"dora\",\"fence\":\"mask\","
                + "\"held\":true,\"heldNs\":1500000000,\"waitedNs\":250000000,\"terms\":{\"weight\":3,\"class\":\"batch\",\"hardCap\":1,\"softCap\":1,"
                + "\"replayable\":true}}]}]}\n";
        String text = answered(answer, "why", "dora").out();
        assertTrue(
                text.startsWith("dora (pid 9) shares H200 GPU-1 by space, where tenants take turns: its work waits until it is its tenant's turn.\n"),
                text);
        assertTrue(
                text.contains(
                        "tenants take turns by policy fair; set for this tenant: weight 3, replayable; it had 1.5 s of the GPU's time, and waited 250.0 ms\n"),
                text);
        Files.delete(folder.resolve("control.sock"));
        text = answered(answer.replace("\"held\":true", "\"held\":true,\"partLaunches\":12,\"replays\":3,\"lostNs\":250000000"), "why", "dora").out();
        assertTrue(text.contains("its long grids were launched in 12 parts, between which other tenants get the GPU\n")
                && text.contains("kernels of it were stopped for an interactive tenant and run again, 3 times in all; they had run for 250.0 ms\n"),
                text);
        Files.delete(folder.resolve("control.sock"));
        text = answered(answer.replace("\"hardCap\":1", "\"hardCap\":0.1"), "why", "dora").out();
        assertTrue(text.contains("its work waits for its tenant's turn, or for time under its cap.\n"), text);
        Files.delete(folder.resolve("control.sock"));
        text = answered(answer.replace("\"now\":true", "\"now\":false").replace("\"held\":true", "\"held\":false"), "why", "dora").out();
        assertTrue(text.contains("its kernels run at once with those of any program that comes.\n") && text.contains("tenants run at once; set for"),
                text);
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
