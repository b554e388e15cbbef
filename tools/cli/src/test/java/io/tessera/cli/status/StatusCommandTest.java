package io.tessera.cli.status;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonParser;
import io.tessera.cli.CommandRun;
import io.tessera.cli.ScriptedControlServer;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class StatusCommandTest {
    @TempDir
    private Path folder;

    private static String resource(String name) throws IOException {
        try (InputStream stream = StatusCommandTest.class.getResourceAsStream(name)) {
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    /** The answer in a resource, on one line as the protocol wants it. */
    private static String answer(String name) throws IOException {
        return resource(name).replace("\n", "") + "\n";
    }

    private CommandRun run(boolean terminal, Map<String, String> environment, String[] arguments, String... answers)
            throws IOException {
        try (ScriptedControlServer _ = new ScriptedControlServer(folder.resolve("control.sock"), answers)) {
            return CommandRun.of(folder, terminal, environment, arguments);
        }
    }

    private CommandRun plain(String... answers) throws IOException {
        return run(false, Map.of(), new String[] {"status"}, answers);
    }

    @Test
    void turns() throws IOException {
        CommandRun run = plain(answer("exclusive.json"));
        assertEquals(resource("exclusive.txt"), run.out());
        assertEquals("", run.err());
        assertEquals(0, run.code());
    }

    @Test
    void everybodyRuns() throws IOException {
        assertEquals(resource("free.txt"), plain(answer("free.json")).out());
    }

    @Test
    void memoryThatLeaves() throws IOException {
        assertEquals(resource("oversubscribed.txt"), plain(answer("oversubscribed.json")).out());
    }

    @Test
    void whoStandsStillAndWhoIsShortIsSaidWithItsCause() throws IOException {
        String standing = "client 9 may run and waits for 4.00 GiB, nothing has moved for 1.2 s: client 7 has not stopped";
        String json = answer("oversubscribed.json")
                .replace("\"fits\": false", "\"usableBytes\":42949672960,\"standing\":\"" + standing + "\",\"fits\":false")
                .replaceFirst("\"parked\": false", "\"parked\":false,\"shortOf\":\"client 7 needs 90.00 GiB\"");
        String text = plain(json).out();
        assertTrue(text.contains("  clients can have 40.0 GiB of the device's 140.4 GiB: the driver said so, or refused more\n"), text);
        assertTrue(text.contains("  stands still: " + standing + "\n"), text);
        assertTrue(text.contains("  alice (client 7): its calls are out of memory: client 7 needs 90.00 GiB\n"), text);
        assertTrue(folder.resolve("control.sock").toFile().delete());
        assertFalse(plain(json.replace("\"usableBytes\":42949672960", "\"usableBytes\":150755450880")).out().contains("clients can have"));
    }

    @Test
    void whoHasNotStarted() throws IOException {
        String waiting = "{\"place\":0,\"pid\":7,\"uid\":0,\"tenant\":\"next\",\"guaranteeBytes\":0,\"waitingNs\":1,\"reason\":\"\"},"
                + "{\"place\":1,\"pid\":0,\"uid\":-1,\"tenant\":\"(another user's)\",\"guaranteeBytes\":0,\"waitingNs\":2000000000,\"reason\":\"full\\u001b\"}";
        String text = plain(
                "{\"ok\":true,\"manager\":{\"pid\":5,\"version\":\"1\",\"abi\":1,\"uid\":0,\"runtimeDirectory\":\"/r\",\"uptimeNs\":1500000},"
                        + "\"devices\":[],\"clients\":[],\"waiting\":[" + waiting + "]}\n")
                .out();
        assertTrue(text.contains("programs that have not started:\n  next (pid 7): a place is kept for it\n"
                + "  (another user's): place 1, waits for 2.0 s: full\\x1b\n"), text);
    }

    @Test
    void devicesThatTheManagerChose() throws IOException {
        String placement = "\"placement\":{\"device\":\"GPU-2\",\"rule\":\"pack\",\"reason\":\"r\"}";
        String text = plain("{\"ok\":true,\"manager\":{\"pid\":5,\"version\":\"1\",\"placement\":\"pack\"},\"devices\":[],\"clients\":[{\"id\":7,"
                + "\"tenant\":\"dora\",\"devices\":[]," + placement + "},{\"id\":8,\"tenant\":\"eve\",\"devices\":[]}],\"waiting\":[{\"place\":0,"
                + "\"pid\":7,\"tenant\":\"next\"," + placement + "}]}\n").out();
        assertTrue(text.contains("\nprograms that name no device are placed by the rule pack\n"), text);
        assertTrue(text.contains("\n  next (pid 7): a place is kept for it on GPU-2\n\ndevices that the manager chose (tessera why says why):\n"
                + "  dora (client 7): GPU-2, by pack\n\n"), text);
        assertTrue(folder.resolve("control.sock").toFile().delete());
        assertTrue(!plain("{\"ok\":true,\"manager\":{\"pid\":5,\"placement\":\"none\"},\"devices\":[],\"clients\":[]}\n").out().contains("place"));
    }

    private static String executor(String... machineCode) {
        StringBuilder clients = new StringBuilder();
        for (String images : machineCode) {
            clients.append(clients.isEmpty() ? "" : ",").append("{\"client\":7,\"pid\":9,\"tenant\":\"t\",\"fence\":\"mask\"").append(images)
                    .append('}');
        }
        return "{\"ok\":true,\"manager\":{\"pid\":5,\"version\":\"1\",\"abi\":1,\"uid\":0,\"runtimeDirectory\":\"/r\",\"uptimeNs\":1500000},"
                + "\"devices\":[],\"clients\":[],\"executors\":[{\"ordinal\":0,\"uuid\":\"u\",\"name\":\"GPU\",\"state\":\"running\",\"windows\":[],"
                + "\"clients\":[" + clients + "]}]}\n";
    }

    private static String[] header(String text) {
        String line = text.lines().filter(each -> each.contains("TENANT")).findFirst().orElseThrow(() -> new AssertionError(text));
        return line.substring(line.indexOf("FENCE")).split(" +");
    }

    /** Missing values take no room. */
    @Test
    void imagesOfMachineCodeAreShownByWhatIsKnownOfThem() throws IOException {
        assertArrayEquals(new String[] {"FENCE", "VIOLATIONS"}, header(plain(executor("")).out()));
        assertTrue(folder.resolve("control.sock").toFile().delete());
        String text = plain(executor(",\"shown\":12,\"vendors\":40,\"unknown\":0,\"unfenced\":3", ",\"vendors\":1")).out();
        assertArrayEquals(new String[] {"FENCE", "SHOWN", "VENDOR", "UNFENCED", "VIOLATIONS"}, header(text));
        assertTrue(text.contains("mask      12      40         3           0\n"), text);
        assertTrue(folder.resolve("control.sock").toFile().delete());
        assertArrayEquals(new String[] {"FENCE", "UNKNOWN", "VIOLATIONS"}, header(plain(executor(",\"unknown\":1")).out()));
    }

    /** The GPU time of programs that share by space stands in the columns of those that take turns. */
    @Test
    void timeAndTermsOfTenantsInSpaceAreShown() throws IOException {
        String executor = executor(
                ",\"heldNs\":1500000000,\"waitedNs\":250000000,\"terms\":{\"weight\":3,\"priority\":0,\"class\":\"batch\",\"hardCap\":1,"
                        + "\"softCap\":1,\"targetNs\":0,\"replayable\":true}")
                .replace("\"windows\":[],", "\"turns\":{\"policy\":\"fair\",\"use\":\"auto\",\"now\":true},");
        String text = plain(executor).out();
        assertTrue(text.contains("shared by space, running, turns by fair"), text);
        assertTrue(text.contains(" HELD    WAITED ") && text.contains("1.5 s  250.0 ms"), text);
        assertTrue(text.lines().anyMatch(line -> line.endsWith(": weight 3, replayable")), text);
    }

    /** Where a program is kept off some of the processors, all programs say on how many they run. */
    @Test
    void processorsAreShownWhereTheyAreDivided() throws IOException {
        String all = ",\"processors\":132,\"deviceProcessors\":132";
        assertArrayEquals(new String[] {"FENCE", "VIOLATIONS"}, header(plain(executor(all, all)).out()));
        assertTrue(folder.resolve("control.sock").toFile().delete());
        String text = plain(executor(all, ",\"processors\":100,\"deviceProcessors\":132")).out();
        assertArrayEquals(new String[] {"FENCE", "VIOLATIONS", "PROCESSORS"}, header(text));
        assertTrue(text.contains("           0     132/132\n") && text.contains("           0     100/132\n"), text);
    }

    @Test
    void noClients() throws IOException {
        String manager = "\"manager\":{\"pid\":5,\"version\":\"1\",\"abi\":1,\"uid\":0,\"runtimeDirectory\":\"/r\","
                + "\"uptimeNs\":1500000}";
        assertEquals("manager 1, pid 5, uid 0, up 1.5 ms, /r\n\nno clients\n",
                plain("{\"ok\":true," + manager + ",\"devices\":[],\"clients\":[]}\n").out());
    }

    @Test
    void jsonIsTheManagersAnswer() throws IOException {
        CommandRun run = run(true, Map.of(), new String[] {"status", "--json"}, answer("free.json"));
        assertEquals(JsonParser.parseString(resource("free.json")),
                JsonParser.parseString(run.out()));
        assertEquals(1, run.out().lines().count());
    }

    @Test
    void colourOnATerminalOnly() throws IOException {
        String[] status = {"status"};
        String json = answer("exclusive.json");
        assertTrue(run(true, Map.of("TERM", "xterm"), status, json).out().contains("\u001b[32mholds\u001b[0m"));
        assertTrue(folder.resolve("control.sock").toFile().delete());
        assertEquals(resource("exclusive.txt"), run(true, Map.of("NO_COLOR", "1"), status, json).out());
        assertTrue(folder.resolve("control.sock").toFile().delete());
        assertEquals(resource("exclusive.txt"), run(true, Map.of("TERM", "dumb"), status, json).out());
        assertTrue(folder.resolve("control.sock").toFile().delete());
        assertFalse(run(false, Map.of("TERM", "xterm"), status, json).out().contains("\u001b"));
    }

    @Test
    void watchingShowsLaunchesASecond() throws IOException {
        String first = answer("free.json");
        // One second later by the manager's clock, 250 launches more.
        String second = first.replace("\"uptimeNs\":60000000000", "\"uptimeNs\":61000000000")
                .replace("\"launches\":1000", "\"launches\":1250");
        CommandRun run = run(false, Map.of(), new String[] {"status", "--watch", "1s", "--count", "2"}, first, second);
        assertEquals(0, run.code());
        assertEquals(resource("watched.txt"), run.out());
    }

    @Test
    void watchingNeedsAPeriod() throws IOException {
        CommandRun run = CommandRun.of(folder, "status", "--watch=often");
        assertEquals(2, run.code());
        assertTrue(run.err().contains("500ms"), run.err());
    }

    @Test
    void noManagerIsCodeThree() throws IOException {
        CommandRun run = CommandRun.of(folder, "status");
        assertEquals(3, run.code());
        assertTrue(run.err().startsWith("tessera: no manager runs"), run.err());
        assertEquals("", run.out());
    }

    @Test
    void aStatusThatDoesNotFitIsMalformed() throws IOException {
        CommandRun run = plain("{\"ok\":true,\"manager\":{\"pid\":\"many\"}}\n");
        assertEquals(1, run.code());
        assertTrue(run.err().contains("does not fit the protocol"), run.err());
        assertTrue(folder.resolve("control.sock").toFile().delete());
        assertTrue(plain("{\"ok\":true}\n").err().contains("says nothing about the manager"));
    }

    @Test
    void noLooksAreAWrongCount() throws IOException {
        CommandRun run = CommandRun.of(folder, "status", "--watch", "--count=-1");
        assertEquals(2, run.code());
        assertTrue(run.err().contains("--count -1: at least 1"), run.err());
    }
}
