package io.tessera.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * {@code tessera jvm} on services that work: the site that leaks is named, and nothing of a service that does not leak.
 *
 * <p>{@code -Dtessera.jvm.leak.seconds=600} watches the healthy service for ten minutes; by default it is a few seconds.
 */
@Timeout(1200)
class LeakFinderTest {
    private static final long WATCH_SECONDS = Long.getLong("tessera.jvm.leak.seconds", 6);
    /** Longest that naming the leak may take; it is some seconds, by the age that is asked for. */
    private static final Duration NAMED_WITHIN = Duration.ofSeconds(30);
    private static final String LEAKING = "io.tessera.samples.LeakingService.remember:";

    private World world;

    @BeforeEach
    void start() {
        world = new World().withManager();
    }

    @AfterEach
    void end() {
        world.close();
    }

    /** A service in space sharing with the agent, and nothing else. */
    private Program service(Jvm jvm, String type, String... arguments) {
        List<String> command = new ArrayList<>(jvm.command());
        command.add("-javaagent:" + Outputs.agent() + "=share=space");
        command.addAll(world.folders());
        command.addAll(List.of("-cp", Outputs.samples(), "io.tessera.samples." + type));
        command.addAll(List.of(arguments));
        return world.start(command, Map.of("TESSERA_RUNTIME_DIR", world.runtimeDirectory().toString()));
    }

    private Ended tessera(String... arguments) {
        List<String> command = new ArrayList<>(List.of(Outputs.tessera().toString()));
        command.addAll(List.of(arguments));
        return world.start(command, Map.of("TESSERA_JAVA", System.getProperty("java.home"), "TESSERA_RUNTIME_DIR",
                world.runtimeDirectory().toString())).end();
    }

    /** Sites that the leak finder holds against a service. */
    private List<String> accused(Program service) {
        Ended look = tessera("jvm", Long.toString(service.pid()), "--leaks=1s", "--gc", "--json");
        assertEquals(0, look.exit(), look::toString);
        JsonObject json = JsonParser.parseString(String.join("\n", look.output())).getAsJsonObject();
        assertEquals(0, json.get("suppressed").getAsLong(), json::toString);
        assertEquals(0, json.get("dropped").getAsLong(), json::toString);
        Predicate<JsonObject> guilty = row -> !row.get("verdict").getAsString().equals("old");
        return json.getAsJsonArray("leaks").asList().stream().map(JsonElement::getAsJsonObject).filter(guilty)
                .map(row -> row.get("site").getAsString()).toList();
    }

    @Test
    void theSiteThatLeaksIsNamed() {
        for (Jvm jvm : List.of(Jvm.found().getFirst(), Jvm.newest())) {
            Program service = service(jvm, "LeakingService", "serve").awaitLine("ready");
            long startNs = System.nanoTime();
            List<String> accused = accused(service);
            while (accused.isEmpty() && System.nanoTime() - startNs < NAMED_WITHIN.toNanos()) {
                accused = accused(service);
            }
            System.out.printf("%s: leak named after %.1f s%n", jvm, (System.nanoTime() - startNs) / 1e9);
            assertEquals(1, accused.size(), accused::toString);
            assertTrue(accused.getFirst().startsWith(LEAKING), accused::toString);
            Ended table = tessera("jvm", Long.toString(service.pid()), "--leaks=1s");
            assertTrue(table.output().stream().anyMatch(line -> line.contains("leak: owner collected")
                    && line.contains(LEAKING)), table::toString);
            assertTrue(service.finish().end().output().getLast().endsWith(": correct"));
        }
    }

    @Test
    void aServiceThatFreesWhatItTakesIsNotAccused() {
        Program service = service(Jvm.newest(), "ScoringService", "bench", "4").awaitLine("{\"what\"");
        long endNs = System.nanoTime() + Duration.ofSeconds(WATCH_SECONDS).toNanos();
        int looks = 0;
        do {
            service.tell("go 1500");
            service.awaitLines(++looks + 1);
            assertEquals(List.of(), accused(service));
        } while (System.nanoTime() - endNs < 0);
        System.out.println("not accused in " + looks + " looks over " + WATCH_SECONDS + " s");
        Ended ended = service.finish().end();
        assertEquals(0, ended.exit(), ended::toString);
        assertTrue(ended.output().stream().noneMatch(line -> line.contains("\"right\": false")), ended::toString);
    }

    /** Loading the agent into a service that runs: what comes afterwards is seen, and the service goes on. */
    @Test
    void aServiceThatRunsIsLookedInto() {
        List<String> command = new ArrayList<>(List.of(Outputs.tessera().toString(), "run", "--share", "space",
                "--no-manager", "--"));
        command.addAll(Jvm.newest().command());
        command.add("-XX:+EnableDynamicAgentLoading");
        command.addAll(world.folders());
        command.addAll(List.of("-cp", Outputs.samples(), "io.tessera.samples.LeakingService", "serve"));
        Program service = world.start(command, Map.of("TESSERA_RUNTIME_DIR", world.runtimeDirectory().toString()))
                .awaitLine("ready");
        Ended first = tessera("jvm", Long.toString(service.pid()), "--json");
        assertEquals(0, first.exit(), first::toString);
        assertTrue(first.errors().stream().anyMatch(line -> line.contains("what was allocated before is unknown")),
                first::toString);
        JsonObject json = JsonParser.parseString(String.join("\n", first.output())).getAsJsonObject();
        assertTrue(json.get("late").getAsBoolean(), json::toString);
        assertEquals("wrapper", json.get("driver").getAsString());
        long startNs = System.nanoTime();
        List<String> accused = accused(service);
        while (accused.isEmpty() && System.nanoTime() - startNs < NAMED_WITHIN.toNanos()) {
            accused = accused(service);
        }
        assertTrue(accused.size() == 1 && accused.getFirst().startsWith(LEAKING), accused::toString);
        assertTrue(service.finish().end().output().getLast().endsWith(": correct"));
    }
}
