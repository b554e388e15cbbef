package io.tessera.cli.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.tessera.cli.CommandRun;
import io.tessera.cli.TesseraCommands;
import io.tessera.cli.context.CommandContext;
import io.tessera.cli.context.Installation;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code tessera jvm} against real JVMs of the same user, with a stand-in for the agent. */
@Timeout(300)
class JvmCommandTest {
    @TempDir
    private Path folder;

    private CommandRun jvm(String... arguments) throws IOException {
        String[] all = new String[arguments.length + 1];
        all[0] = "jvm";
        System.arraycopy(arguments, 0, all, 1, arguments.length);
        return CommandRun.of(folder, all);
    }

    private Path agent() throws IOException {
        return TargetJvm.agentJar(folder.resolve("agent"));
    }

    @Test
    void aJvmWithTheAgentIsShown() throws IOException {
        try (TargetJvm target = TargetJvm.start("-javaagent:" + agent())) {
            CommandRun run = jvm(target.pid());
            assertEquals(0, run.code(), run.err());
            assertEquals("", run.err());
            assertEquals("""
                    pid %s, io.tessera.cli.jvm.StandInAgent$Program, agent 9.9, recording sampled:8, driver Tessera's
                      3.0 MiB in 7 allocations, 12345 launches and calls, 1.5 ms waited for turns
                      not seen: 5 events found a table full, 2 errors of the agent were suppressed

                    Device memory by call site
                        BYTES  COUNT     OLDEST  KIND    SITE
                      2.0 MiB      1  1 min 0 s  device  a.Model.load:10
                      1.0 MiB      6     50.0 s  device  a.Cache.put:20

                    Older than 30.0 s
                        BYTES  COUNT     OLDEST  OWNERS GONE  VERDICT                KIND    SITE
                      1.0 KiB      1     50.0 s            1  leak: owner collected  device  a.Cache.put:20
                      2.0 MiB      1  1 min 0 s            0  old                    device  a.Model.load:10

                    Launches by call site
                      LAUNCHES   COPIED  KERNEL                 SITE
                         12000        -  gemm                   a.Model.run:30
                           345  1.0 MiB  [copy host to device]  a.Model.run:29
                    """.formatted(target.pid()), run.out());
        }
    }

    @Test
    void jsonHasWhatWasAskedFor() throws IOException {
        try (TargetJvm target = TargetJvm.start("-javaagent:" + agent())) {
            CommandRun run = jvm(target.pid(), "--json", "--leaks=5s", "--gc", "--record", "off");
            assertEquals("", run.err());
            JsonObject json = JsonParser.parseString(run.out()).getAsJsonObject();
            assertEquals("off", json.get("recording").getAsString());
            assertEquals(5000, json.get("leaksOlderThanMs").getAsLong());
            assertFalse(json.has("heap") || json.has("launchers"), run.out());
            JsonArray leaks = json.getAsJsonArray("leaks");
            assertEquals(2, leaks.size());
            JsonObject worst = leaks.get(0).getAsJsonObject();
            assertEquals("leak", worst.get("verdict").getAsString());
            assertEquals(2, worst.get("count").getAsLong());
            assertEquals(1, worst.get("ownersCollected").getAsLong());
            assertEquals(10_000, worst.get("youngestMs").getAsLong());
            CommandRun released = jvm(target.pid(), "--release");
            assertEquals("tessera: released 1.0 KiB\n", released.err());
            JsonArray all = JsonParser.parseString(jvm("--json").out()).getAsJsonArray();
            assertTrue(IntStream.range(0, all.size()).mapToObj(i -> all.get(i).getAsJsonObject())
                    .anyMatch(o -> o.get("pid").getAsString().equals(target.pid())
                            && o.get("launches").getAsLong() == 12_345),
                    all::toString);
            assertTrue(jvm().out().contains(target.pid()));
        }
    }

    @Test
    void theAgentIsLoadedWhereItIsAbsent() throws IOException {
        agent();
        try (TargetJvm target = TargetJvm.start()) {
            CommandRun refused = jvm(target.pid(), "--no-load");
            assertEquals(1, refused.code());
            assertTrue(refused.err().contains("has no agent. Start it with -javaagent:"), refused.err());
            CommandRun run = jvm(target.pid(), "--heap");
            assertEquals(0, run.code(), run.err());
            assertTrue(run.err().contains("what was allocated before is unknown"), run.err());
            assertTrue(run.out().contains("a.Cache.put:20"), run.out());
            assertEquals("", jvm(target.pid(), "--heap").err());
        }
    }

    @Test
    void whatPreventsALookIsSaid() throws IOException {
        try (TargetJvm target = TargetJvm.start()) {
            CommandRun missing = jvm(target.pid());
            assertEquals(1, missing.code());
            assertTrue(missing.err().contains("the agent's jar is missing ("), missing.err());
        }
        try (TargetJvm target = TargetJvm.start("-javaagent:" + agent() + "=jmx=off")) {
            CommandRun off = jvm(target.pid());
            assertEquals(1, off.code());
            assertTrue(off.err().contains("jmx=off"), off.err());
            CommandRun list = jvm(); // other JVMs of this machine are in it too, so its code says nothing
            assertTrue(list.out().lines().anyMatch(line -> line.strip().startsWith(target.pid() + "  ")
                    && line.contains("no CUDA seen")), list.out());
        }
        try (TargetJvm target = TargetJvm.start("-XX:+DisableAttachMechanism")) {
            CommandRun refused = jvm(target.pid());
            assertEquals(1, refused.code());
            assertTrue(refused.err().contains("does not let itself be attached to"), refused.err());
        }
        try (TargetJvm target = TargetJvm.start("-XX:-EnableDynamicAgentLoading")) {
            CommandRun refused = jvm(target.pid());
            assertEquals(1, refused.code());
            assertTrue(refused.err().contains("needs -javaagent:"), refused.err());
        }
    }

    /** A JVM would answer the first step of an attach; anything else would be ended by it. */
    @Test
    void whatIsNoJvmIsLeftAlone() throws IOException {
        Process sleeper = new ProcessBuilder("sleep", "60").start();
        try {
            CommandRun run = jvm(Long.toString(sleeper.pid()));
            assertEquals(1, run.code());
            assertTrue(run.err().contains("(sleep) is no JVM"), run.err());
            assertTrue(sleeper.isAlive());
        } finally {
            sleeper.destroyForcibly();
        }
        CommandRun none = jvm(Long.toString(Integer.MAX_VALUE));
        assertEquals(1, none.code());
        assertEquals("tessera: there is no process 2147483647\n", none.err());
    }

    @Test
    void anotherUsersJvmIsRefused() throws IOException {
        StringWriter err = new StringWriter();
        int uid = JvmProcess.of(Path.of("/proc"), ProcessHandle.current().pid()).orElseThrow().uid();
        int code = TesseraCommands.execute(new CommandContext(new PrintWriter(new StringWriter()), new PrintWriter(err),
                false, false, Map.of(), uid + 1, new Installation(folder, folder, folder, folder, "9.9"), _ -> {}), "jvm",
                Long.toString(ProcessHandle.current().pid()));
        assertEquals(1, code);
        assertTrue(err.toString().contains("belongs to the user with the number " + uid), err.toString());
    }

    @Test
    void wrongUsageIsSaid() throws IOException {
        for (String[] wrong : new String[][] {{"--heap"}, {"1", "--record", "often"}, {"1", "--leaks=soon"},
                {"1", "--top", "0"}, {"many"}}) {
            CommandRun run = jvm(wrong);
            assertEquals(2, run.code(), run.err());
            assertTrue(run.err().contains("See: tessera help jvm"), run.err());
        }
        assertTrue(jvm("--help").out().contains("tessera jvm 4711 --leaks=10s --gc"));
    }
}
