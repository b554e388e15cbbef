package io.tessera.system;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import io.tessera.testing.BuildOutputs;
import io.tessera.testing.TestFolders;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A manager that tests of a class use one after another, in folders of its own. A test that leaves something there fails:
 * {@link #awaitNothingLeft}. Used by one thread.
 */
final class SharedManager {
    private final Terms terms;
    private final TestFolders folders = new TestFolders("tsm-");
    private final ManagerProcess process;

    /**
     * Tests with the same terms share a manager.
     *
     * @param options     options of the manager
     * @param expectedLog warnings and errors that it may log. A manager logs a text once and only counts it afterwards, so a test that
     *         declares others, or none, needs another manager.
     */
    record Terms(List<String> options, List<String> expectedLog) {
    }

    SharedManager(Terms terms) {
        this.terms = terms;
        process = new ManagerProcess(folders, BuildOutputs.app(), Map.of(), terms.options.toArray(String[]::new));
    }

    TestFolders folders() {
        return folders;
    }

    ManagerProcess process() {
        return process;
    }

    /**
     * Waits until the manager is in its initial state again, except for what it knows of devices, and for executors that it has started.
     * Executors report once a second what they hold, so something that is not reported yet is found after a later test.
     */
    void awaitNothingLeft() {
        Await.until("nothing is left of the programs of the test", Await.PATIENCE, () -> left().isEmpty(),
                () -> left() + " in " + process.control().status());
    }

    /** Returns what tests have left: clients, memory, orders, files. */
    private List<String> left() {
        List<String> left = new ArrayList<>();
        JsonObject status = process.control().status();
        note(left, "clients", status);
        note(left, "waiting", status);
        status.getAsJsonArray("devices").forEach(device -> note(left, "clients", device.getAsJsonObject()));
        if (status.has("executors")) {
            for (JsonElement each : status.getAsJsonArray("executors")) {
                JsonObject executor = each.getAsJsonObject();
                note(left, "clients", executor);
                note(left, "windows", executor);
                if (!executor.get("state").getAsString().equals("ready") || executor.get("restarts").getAsLong() != 0
                        || executor.get("usedBytes").getAsLong() != 0) {
                    left.add("executor " + executor.get("ordinal"));
                }
            }
        }
        if (Files.exists(folders.runtimeDirectory().resolve("orders.toml"))) {
            left.add("orders");
        }
        try (DirectoryStream<Path> segments = Files.newDirectoryStream(folders.segmentDirectory())) {
            segments.forEach(segment -> left.add(segment.getFileName().toString()));
        } catch (IOException e) {
            throw new UncheckedIOException("segments cannot be listed", e);
        }
        return left;
    }

    /** Ends it after the last test. Returns what went wrong with that; in this case its folders are kept. */
    List<String> end() {
        try {
            int exit = process.stop();
            List<String> wrong = new ArrayList<>(process.complaints(terms.expectedLog));
            if (exit != 0) {
                wrong.add("the manager ended with " + exit + ": " + process.log());
            }
            if (wrong.isEmpty()) {
                folders.delete();
            }
            return wrong;
        } finally {
            process.close();
            TestRun.endExecutors(folders.runtimeDirectory());
        }
    }

    private static void note(List<String> left, String list, JsonObject of) {
        if (of.has(list) && !of.getAsJsonArray(list).isEmpty()) {
            left.add(list);
        }
    }
}
