package io.tessera.guardian.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A process writes without end and is killed (SIGKILL) at a moment that a seed names; then every record is whole. */
class KillTest {
    private static final int ROUNDS = 8;

    @TempDir
    private Path folder;

    @Test
    @Timeout(180)
    void everyRecordIsTheOldOrTheNewOne() throws IOException, InterruptedException, StateException {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        int[] known = new int[EndlessWriter.KEYS];
        for (int round = 0; round < ROUNDS; round++) {
            killedAfter(random.nextInt(60), known);
            try (StateStore store = FileStateStore.open(folder.resolve("state"))) {
                for (int key = 0; key < EndlessWriter.KEYS; key++) {
                    int from = known[key];
                    int found = EndlessWriter.requireWhole(store.get("key" + key));
                    // The writer says a number after its record is written: it may have written one more.
                    assertTrue(found == from || found == from + EndlessWriter.KEYS || from == 0 && found == key + 1,
                            "seed " + seed + ", round " + round + ", key " + key + ": " + from + " then " + found);
                    known[key] = found;
                }
                assertTrue(store.dropped() <= 1, "one record at most was unfinished");
            }
        }
        assertTrue(known[0] > 0, "nothing was written, seed " + seed);
    }

    /** Runs the writer and kills it; notes in {@code known} what it said to have written. */
    private void killedAfter(int millis, int[] known) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC", "-Xshare:auto", "-cp", System.getProperty("java.class.path"),
                EndlessWriter.class.getName(), folder.resolve("state").toString()));
        Process writer = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try (BufferedReader said = writer.inputReader()) {
            assertEquals("writing", said.readLine());
            boolean ending = false;
            for (String line = said.readLine(); line != null; line = said.readLine()) {
                int number = EndlessWriter.numberOf(line);
                if (number > 0) {
                    known[(number - 1) % EndlessWriter.KEYS] = number;
                    if (!ending) { // counted from the first record: a slow machine writes one, too
                        ending = true;
                        CompletableFuture.runAsync(() -> writer.toHandle().destroyForcibly(),
                                CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS));
                    }
                }
            }
            assertTrue(writer.waitFor(10, TimeUnit.SECONDS));
        } finally {
            writer.destroyForcibly();
        }
    }
}
