package io.tessera.cli.simulate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.tessera.cli.CommandRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.w3c.dom.Document;

@Timeout(120)
class SimulateCommandTest {
    @TempDir
    private Path folder;

    private CommandRun simulate(String... arguments) throws IOException {
        List<String> all = new ArrayList<>(List.of("simulate"));
        all.addAll(Arrays.asList(arguments));
        return CommandRun.of(folder, all.toArray(String[]::new));
    }

    private String trace(String... lines) throws IOException {
        return Files.write(folder.resolve("a.trace"), List.of(lines)).toString();
    }

    @Test
    void sharesOfGeneratedTenants() throws IOException {
        CommandRun run = simulate("--generate", "75:25", "--policy", "band", "--until", "10s");
        assertEquals(0, run.code(), run.toString());
        assertTrue(run.out().matches("(?s)band: 10\\.0 s, \\d+ turns, utilisation 100\\.0 %.*waits: median .*"), run.out());
        assertTrue(run.out().matches("(?s).*weight-750-a +batch +750 +7[45]\\.\\d %.*weight-250-b +batch +250 +2[45]\\.\\d %.*"), run.out());
    }

    @Test
    void aTraceWithEveryRecord() throws IOException {
        String file = trace("# two tenants", "", "tenant alice weight=3 class=interactive target=50ms", "tenant bob soft-cap=50% hard-cap=0.75",
                "loop alice length=1ms gap=1ms requests=100 from=1s until=9s", "  loop bob length=2ms depth=2 requests=10",
                "request alice at=2.5s length=30ms", "set alice at=3s weight=1 priority=-2", "set alice at=4s class=batch");
        CommandRun run = simulate(file, "--json", "--policy", "priority");
        assertEquals(0, run.code(), run.toString());
        JsonObject json = JsonParser.parseString(run.out()).getAsJsonObject();
        assertEquals("priority", json.get("policy").getAsString());
        assertEquals(2_530_000_000L, json.get("elapsedNs").getAsLong());
        assertEquals(150_000_000L, json.get("busyNs").getAsLong());
        JsonObject alice = json.getAsJsonArray("tenants").get(0).getAsJsonObject();
        assertEquals("alice", alice.get("name").getAsString());
        assertEquals(101, alice.get("requests").getAsLong());
        assertEquals(101, alice.get("inTime").getAsLong());
        assertEquals(30_000_000L, alice.get("responseLongestNs").getAsLong());
        assertEquals(130.0 / 150, alice.get("share").getAsDouble(), 1e-9);
    }

    @Test
    void policiesAreCompared() throws IOException {
        CommandRun run = simulate("--generate", "pair", "--policy", "all", "--until", "2s");
        assertEquals(9, run.out().lines().count(), run.out());
        assertTrue(run.out().contains("fifo") && run.out().contains("long 93."), run.out());
        JsonArray array = JsonParser.parseString(simulate("--generate", "pair", "--policy", "fair,band", "--until", "2s", "--json").out())
                .getAsJsonArray();
        assertEquals(List.of("\"band\"", "\"fair\""), array.asList().stream().map(one -> one.getAsJsonObject().get("policy").toString()).toList());
    }

    @Test
    void theWorkloadsOfTrem() throws IOException {
        CommandRun run = simulate("--generate", "w1", "--load", "2", "--seed", "3", "--policy", "priority,elastic", "--revoke", "22ms");
        assertEquals(0, run.code(), run.toString());
        assertEquals(3, run.out().lines().count(), run.out());
        assertEquals(run, simulate("--generate", "w1", "--load", "2", "--seed", "3", "--policy", "priority,elastic", "--revoke", "22ms"));
    }

    @Test
    void manyTenantsAreCut() throws IOException {
        CommandRun run = simulate("--generate", "crowd", "--count", "30");
        assertTrue(run.out().endsWith("and 10 more; --json has all\n"), run.out());
    }

    @Test
    void thePictureIsXmlWhateverTenantsAreCalled() throws Exception {
        Path svg = folder.resolve("a.svg");
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            lines.add("tenant <&>\"'" + i);
            lines.add("loop <&>\"'" + i + " length=1ms requests=" + (20 - i));
        }
        CommandRun run = simulate(trace(lines.toArray(String[]::new)), "--svg", svg.toString());
        assertEquals(0, run.code(), run.toString());
        Document document = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(svg.toFile());
        assertEquals(9, document.getElementsByTagName("path").getLength(), "seven tenants, the others, and the axes");
        String words = document.getDocumentElement().getTextContent();
        assertTrue(words.contains("<&>\"'0: 12.9 %") && words.contains("3 others"), words);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"tenant a weight=x | line 2: weight=x: a whole number", "tenant a weight=0 | weight 0: must be from 1",
            "tenant a colour=red | there is no field colour here; there are: weight", "tenant a weight=1 weight=2 | weight is there twice",
            "tenant a hard-cap=120% | hard cap 1.2", "tenant a hard-cap=much | a part is meant", "tenant a class=vip | interactive or batch",
            "tenant t | tenant t is there twice", "tenant | tenant is followed by a tenant's name", "loop b length=1ms | there is no tenant b above",
            "loop t | length=TIME is missing", "loop t length=5 | length=5: a number with a unit", "loop t length=0ms | longer than 0",
            "loop t length=1ms depth=0 | depth is from 1", "loop t length=1ms from=2s until=1s | until is before from",
            "loop t length = 1ms | length is no field", "request t at=1s | length=TIME is missing", "request t length=1s | at=TIME is missing",
            "set t at=1s | set changes nothing here", "launch t at=1s | launch begins no record: tenant, request, loop, set"})
    void malformedLines(String line, String message) throws IOException {
        String file = trace("tenant t", line);
        CommandRun run = simulate(file);
        assertEquals(1, run.code(), run.toString());
        assertEquals("", run.out());
        assertTrue(run.err().startsWith("tessera: " + file + ", line 2: ") && run.err().contains(message), run.err());
        assertEquals(1, run.err().lines().count(), run.err());
    }

    @Test
    void tracesThatAreNone() throws IOException {
        assertTrue(simulate(trace("# nothing")).err().contains("there is no tenant in this trace"));
        CommandRun missing = simulate(folder.resolve("none").toString());
        assertEquals(1, missing.code());
        assertTrue(missing.err().contains("no such file"), missing.err());
        Files.write(folder.resolve("binary"), new byte[] {'t', (byte) 0xff, (byte) 0xfe});
        CommandRun binary = simulate(folder.resolve("binary").toString());
        assertEquals(1, binary.code());
        assertTrue(binary.err().contains("binary: is no text"), binary.err());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"simulate | either a file with a trace or --generate", "simulate x --generate w1 | either a file",
            "simulate --generate w3 | weights like 75:25", "simulate --generate 1:0 | above 0", "simulate --generate w1 --load 0 | must be positive",
            "simulate --generate pair --policy best | there are fifo, round-robin", "simulate --generate crowd --count 0 | from 1 to",
            "simulate --generate pair --until soon | --until soon: a number with a unit", "simulate --generate pair --policy all --svg x | draws one",
            "simulate --generate w1 --load NaN | must be positive"})
    void wrongUsage(String line, String message) throws IOException {
        CommandRun run = CommandRun.of(folder, line.split(" "));
        assertEquals(2, run.code(), run.toString());
        assertTrue(run.err().contains(message), run.err());
    }

    @Test
    void helpHasFormatAndExamples() throws IOException {
        CommandRun run = simulate("--help");
        assertEquals(0, run.code());
        assertTrue(run.out().contains("PART like 50% or 0.5.") && run.out().contains("tessera simulate --generate 75:25 --policy band"), run.out());
    }
}
