package io.tessera.guardian.state;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
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
                EndlessWriter.check(store, known, "seed " + seed + ", round " + round);
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
        EndlessWriter.kill(writer, millis, known);
    }
}
