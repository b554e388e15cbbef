package io.tessera.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.tessera.testing.BuildOutputs;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * {@code tessera jvm --leaks} as an operator asks it, and services to ask about.
 *
 * @param world whose manager and folders they use
 */
record LeakFinder(World world) {
    /** The line of {@code LeakingService} that leaks begins so. */
    static final String LEAKING = "io.tessera.samples.LeakingService.remember:";

    /** A service in space sharing with the agent, and nothing else. */
    JvmProgram service(Jvm jvm, String type, String... arguments) {
        List<String> command = new ArrayList<>(jvm.command());
        command.add("-javaagent:" + BuildOutputs.agent() + "=share=space");
        command.addAll(world.unpacking());
        command.addAll(List.of("-cp", BuildOutputs.samples(), "io.tessera.samples." + type));
        command.addAll(List.of(arguments));
        return world.start(command, Map.of("TESSERA_RUNTIME_DIR", world.runtimeDirectory().toString()));
    }

    /** Sites that the leak finder holds against a service. */
    List<String> accused(JvmProgram service) {
        ProcessResult look = world.tessera("jvm", Long.toString(service.pid()), "--leaks=1s", "--gc", "--json");
        assertEquals(0, look.exit(), look::toString);
        JsonObject json = JsonParser.parseString(String.join("\n", look.output())).getAsJsonObject();
        assertEquals(0, json.get("suppressed").getAsLong(), json::toString);
        assertEquals(0, json.get("dropped").getAsLong(), json::toString);
        Predicate<JsonObject> guilty = row -> !row.get("verdict").getAsString().equals("old");
        return json.getAsJsonArray("leaks").asList().stream().map(JsonElement::getAsJsonObject).filter(guilty)
                .map(row -> row.get("site").getAsString()).toList();
    }
}
