package io.tessera.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.tessera.testing.BuildOutputs;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * JVM tenants whose memory leaves the device and who wait for turns, on the scripted driver: their data is what it was,
 * and Flight Recorder, the bean and {@code tessera jvm} tell of it.
 */
@Timeout(300)
class ResidencyTest {
    private static final int DATA_BYTES = 16 << 20;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private World world;

    @BeforeEach
    void start() {
        world = new World().withManager("--executors", "none", "--capacity", "64MiB", "--mode", "on");
    }

    @AfterEach
    void end() {
        world.close();
    }

    private Path recording(String tenant) {
        return world.directory().resolve(tenant + ".jfr");
    }

    private JvmProgram notebook(String tenant) {
        Map<String, String> environment = world.scripted();
        environment.put("TESSERA_SCRIPT", "memory 64MiB");
        List<String> command = new ArrayList<>(Jvm.newest().command());
        command.add("-javaagent:" + BuildOutputs.agent() + "=plan=swap,tenant=" + tenant);
        command.add("-XX:StartFlightRecording:filename=" + recording(tenant));
        command.add("-Xlog:jfr*=error");
        command.addAll(world.unpacking());
        command.addAll(List.of("-cp", BuildOutputs.samples(), "io.tessera.samples.Notebook", Integer.toString(DATA_BYTES)));
        return world.start(command, environment).awaitLine("ready");
    }

    private JsonObject asked(JvmProgram program) {
        ProcessResult look = world.tessera("jvm", Long.toString(program.pid()), "--json");
        assertEquals(0, look.exit(), look::toString);
        return JsonParser.parseString(String.join("\n", look.output())).getAsJsonObject();
    }

    private void await(String what, JvmProgram program, Predicate<JsonObject> there) {
        long endNs = System.nanoTime() + PATIENCE.toNanos();
        JsonObject last = asked(program);
        while (!there.test(last)) {
            assertTrue(System.nanoTime() - endNs < 0, what + " did not happen: " + last + "; " + program);
            last = asked(program);
        }
    }

    private static List<RecordedEvent> events(Path recording, String name) throws IOException {
        return RecordingFile.readAllEvents(recording).stream()
                .filter(event -> event.getEventType().getName().equals(name)).toList();
    }

    @Test
    void anEvictionIsSeen() throws IOException {
        JvmProgram notebook = notebook("evicted");
        assertEquals(0, asked(notebook).get("evictedBytes").getAsLong());
        ProcessResult evict = world.tessera("evict", "evicted");
        assertEquals(0, evict.exit(), evict::toString);
        await("the eviction", notebook, json -> json.get("swappedBytes").getAsLong() == DATA_BYTES
                && json.get("evictedBytes").getAsLong() >= DATA_BYTES);
        ProcessResult table = world.tessera("jvm", Long.toString(notebook.pid()));
        assertTrue(table.output().stream().anyMatch(line -> line.contains("16.0 MiB are off it now")), table::toString);
        notebook.tell("check");
        notebook.awaitLine("right");
        await("the return", notebook, json -> json.get("swappedBytes").getAsLong() == 0);
        ProcessResult ended = notebook.finish().end();
        assertEquals(0, ended.exit(), ended::toString);
        List<RecordedEvent> evictions = events(recording("evicted"), "tessera.Eviction");
        long bytes = evictions.stream().mapToLong(event -> event.getLong("bytes")).sum();
        assertTrue(bytes >= DATA_BYTES, evictions::toString);
        assertTrue(evictions.stream().anyMatch(event -> event.getLong("moved") > 0), evictions::toString);
    }

    @Test
    void waitsForTurnsAreSeen() throws IOException, InterruptedException {
        JvmProgram first = notebook("first");
        JvmProgram second = notebook("second");
        long waited = 0;
        for (int round = 2; waited == 0 && round < 30; round++) {
            first.tell("work 1000");
            second.tell("work 1000");
            first.awaitLines(round);
            second.awaitLines(round);
            waited = asked(second).get("turnWaitNs").getAsLong();
        }
        assertTrue(waited > 0, "nobody waited");
        TimeUnit.SECONDS.sleep(1); // the agent looks at the counters twice a second
        for (JvmProgram program : List.of(first, second)) {
            ProcessResult ended = program.finish().end();
            assertEquals(0, ended.exit(), ended::toString);
        }
        List<RecordedEvent> waits = events(recording("second"), "tessera.TurnWait");
        assertTrue(waits.stream().mapToLong(event -> event.getDuration("waited").toNanos()).sum() > 0,
                waits::toString);
        List<RecordedEvent> losses = new ArrayList<>(events(recording("first"), "tessera.TurnLoss"));
        losses.addAll(events(recording("second"), "tessera.TurnLoss"));
        assertTrue(losses.stream().mapToLong(event -> event.getLong("drains")).sum() > 0, losses::toString);
    }
}
