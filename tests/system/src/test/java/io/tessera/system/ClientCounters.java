package io.tessera.system;

import io.tessera.protocol.segment.CounterId;
import io.tessera.protocol.segment.CountersReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** Reads the library's counters of a client that is alive, or whose segment was kept. */
public final class ClientCounters {
    private ClientCounters() {
    }

    /** Returns a counter of the process; fails if the process has no segment. */
    public static long of(CounterId counter, long pid, TestRun run) {
        for (Path folder : new Path[] {run.segmentDirectory(), run.sharedMemory().resolve("kept")}) {
            try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*.segment")) {
                for (Path file : files) {
                    if (CountersReader.open(file) instanceof CountersReader.Ready(CountersReader reader)) {
                        try (reader) {
                            if (reader.header().clientPid() == pid) {
                                return reader.counter(counter);
                            }
                        }
                    }
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        throw new AssertionError("process " + pid + " has no segment");
    }
}
