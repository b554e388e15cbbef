package io.tessera.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.tessera.testing.BuildOutputs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The second start of a program takes its instrumented classes from where the first one left them. */
@Timeout(300)
class SecondStartTest {
    private World world;
    private Path loaded;

    @BeforeEach
    void start() throws IOException {
        world = new World().withManager();
        loaded = world.directory().resolve("loaded.log");
    }

    @AfterEach
    void end() {
        world.close();
    }

    private JvmProgram program(Jvm jvm, String options, String type, String... arguments) {
        List<String> command = new ArrayList<>(jvm.command());
        command.addAll(List.of("-javaagent:" + BuildOutputs.agent() + "=share=space" + options,
                "-Xlog:class+load:file=" + loaded));
        command.addAll(world.unpacking());
        command.addAll(List.of("-cp", BuildOutputs.samples(), type));
        command.addAll(List.of(arguments));
        return world.start(command, Map.of("TESSERA_RUNTIME_DIR", world.runtimeDirectory().toString()));
    }

    /** How many classes of ByteBuddy the latest program loaded. */
    private long byteBuddy() throws IOException {
        return Files.readAllLines(loaded).stream().filter(line -> line.contains(" net.bytebuddy.")).count();
    }

    /** Runs the binding with native methods, which are wrapped, to its end. */
    private long natives(Jvm jvm, String options) throws IOException {
        ProcessResult ended = program(jvm, options + Sample.JAVACPP.agentOption(), Sample.JAVACPP.type()).end();
        assertEquals(0, ended.exit(), ended::toString);
        assertTrue(ended.output().getLast().endsWith(": correct"), ended::toString);
        assertEquals(List.of(), ended.errors(), ended::toString);
        return byteBuddy();
    }

    @Test
    void needsNoByteBuddy() throws IOException {
        for (Jvm jvm : List.of(Jvm.found().getFirst(), Jvm.newest())) {
            assertTrue(natives(jvm, "") > 100);
            assertEquals(0, natives(jvm, ""));
        }
        assertTrue(natives(Jvm.newest(), ",cache=off") > 100);
    }

    @Test
    void recordsTheSame() throws IOException {
        List<String> sites = new ArrayList<>();
        for (int starts = 1; starts <= 2; starts++) {
            JvmProgram service = program(Jvm.newest(), "", "io.tessera.samples.LeakingService", "serve")
                    .awaitLine("ready");
            JsonObject json = new JsonObject();
            for (int tries = 0; tries < 30 && !sites(json).contains("LeakingService.remember"); tries++) {
                ProcessResult look = world.tessera("jvm", Long.toString(service.pid()), "--heap", "--json");
                json = JsonParser.parseString(String.join("\n", look.output())).getAsJsonObject();
            }
            sites.add(sites(json));
            assertTrue(json.get("launches").getAsLong() > 0, json::toString);
            assertEquals(0, json.get("suppressed").getAsLong(), json::toString);
            assertEquals(starts == 1, byteBuddy() > 0, "start " + starts);
            assertEquals(0, service.finish().end().exit());
        }
        assertTrue(sites.getFirst().contains("LeakingService.remember"), sites::toString);
        assertEquals(sites.getFirst(), sites.getLast());
    }

    /** Sites of live memory, sorted, but for those of a request, which come and go. */
    private static String sites(JsonObject json) {
        return json.has("heap") ? json.getAsJsonArray("heap").asList().stream()
                .map(row -> row.getAsJsonObject().get("site").getAsString())
                .filter(site -> site.contains("LeakingService")).filter(site -> !site.contains(".answer")).sorted()
                .distinct().toList().toString() : "";
    }
}
