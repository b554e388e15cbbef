package io.tessera.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.tessera.testing.BuildOutputs;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** {@code tessera jvm} on services that work: the site that leaks is named, and nothing of one that does not leak. */
@Timeout(300)
class LeakFinderTest {
    private static final long WATCH_SECONDS = 6;
    /** Longest that naming the leak may take; it is some seconds, by the age that is asked for. */
    private static final Duration NAMED_WITHIN = Duration.ofSeconds(60);

    private World world;
    private LeakFinder finder;

    @BeforeEach
    void start() {
        world = new World().withManager();
        finder = new LeakFinder(world);
    }

    @AfterEach
    void end() {
        world.close();
    }

    @Test
    void theSiteThatLeaksIsNamed() {
        for (Jvm jvm : List.of(Jvm.found().getFirst(), Jvm.newest())) {
            JvmProgram service = finder.service(jvm, "LeakingService", "serve").awaitLine("ready");
            long startNs = System.nanoTime();
            List<String> accused = finder.accused(service);
            while (accused.isEmpty() && System.nanoTime() - startNs < NAMED_WITHIN.toNanos()) {
                accused = finder.accused(service);
            }
            System.out.printf("%s: leak named after %.1f s%n", jvm, (System.nanoTime() - startNs) / 1e9);
            assertEquals(1, accused.size(), accused::toString);
            assertTrue(accused.getFirst().startsWith(LeakFinder.LEAKING), accused::toString);
            ProcessResult table = world.tessera("jvm", Long.toString(service.pid()), "--leaks=1s");
            assertTrue(table.output().stream().anyMatch(line -> line.contains("leak: owner collected")
                    && line.contains(LeakFinder.LEAKING)), table::toString);
            assertTrue(service.finish().end().output().getLast().endsWith(": correct"));
        }
    }

    @Test
    void aServiceThatFreesWhatItTakesIsNotAccused() {
        JvmProgram service = finder.service(Jvm.newest(), "ScoringService", "bench", "4").awaitLine("{\"what\"");
        long endNs = System.nanoTime() + Duration.ofSeconds(WATCH_SECONDS).toNanos();
        int looks = 0;
        do {
            service.tell("go 1500");
            service.awaitLines(++looks + 1);
            assertEquals(List.of(), finder.accused(service));
        } while (System.nanoTime() - endNs < 0);
        System.out.println("not accused in " + looks + " looks over " + WATCH_SECONDS + " s");
        ProcessResult ended = service.finish().end();
        assertEquals(0, ended.exit(), ended::toString);
        assertTrue(ended.output().stream().noneMatch(line -> line.contains("\"right\": false")), ended::toString);
    }

    /** Loading the agent into a service that runs: what comes afterwards is seen, and the service goes on. */
    @Test
    void aServiceThatRunsIsLookedInto() {
        List<String> command = new ArrayList<>(List.of(BuildOutputs.tessera().toString(), "run", "--share", "space",
                "--no-manager", "--"));
        command.addAll(Jvm.newest().command());
        command.add("-XX:+EnableDynamicAgentLoading");
        command.addAll(world.unpacking());
        command.addAll(List.of("-cp", BuildOutputs.samples(), "io.tessera.samples.LeakingService", "serve"));
        JvmProgram service = world.start(command, Map.of("TESSERA_RUNTIME_DIR", world.runtimeDirectory().toString()))
                .awaitLine("ready");
        ProcessResult first = world.tessera("jvm", Long.toString(service.pid()), "--json");
        assertEquals(0, first.exit(), first::toString);
        assertTrue(first.errors().stream().anyMatch(line -> line.contains("what was allocated before is unknown")),
                first::toString);
        JsonObject json = JsonParser.parseString(String.join("\n", first.output())).getAsJsonObject();
        assertTrue(json.get("late").getAsBoolean(), json::toString);
        assertEquals("wrapper", json.get("driver").getAsString());
        long startNs = System.nanoTime();
        List<String> accused = finder.accused(service);
        while (accused.isEmpty() && System.nanoTime() - startNs < NAMED_WITHIN.toNanos()) {
            accused = finder.accused(service);
        }
        assertTrue(accused.size() == 1 && accused.getFirst().startsWith(LeakFinder.LEAKING), accused::toString);
        assertTrue(service.finish().end().output().getLast().endsWith(": correct"));
    }
}
