package io.tessera.demo;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * Where the programs of {@code tessera demo} wait for each other before they compute: a folder named by the variable
 * {@code DEMO_MEETING}. A program makes the file {@code NAME} in it; once the file {@code begin} is there, all compute.
 */
final class Meeting {
    private static final String VARIABLE = "DEMO_MEETING";
    /** A program whose companions do not come computes alone. */
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(60);
    private static final long LOOK_MS = 20;

    private Meeting() {
    }

    /** Waits until all are there; returns at once where no folder is named. */
    static void await(String name) throws IOException {
        String folder = System.getenv(VARIABLE);
        if (folder == null) {
            return;
        }
        Files.createFile(Path.of(folder, name));
        Path begin = Path.of(folder, "begin");
        long untilNs = System.nanoTime() + LONGEST_WAIT.toNanos();
        while (!Files.exists(begin) && System.nanoTime() < untilNs) {
            try {
                Thread.sleep(LOOK_MS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }
}
