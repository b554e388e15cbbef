package io.tessera.system;

import io.tessera.protocol.segment.CountersReader;
import io.tessera.protocol.segment.LoggedError;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Keeps every client's segment by a second link, because the manager removes the file when the session ends. So a client's
 * log and counters can be read after its death.
 */
public final class KeptSegments implements AutoCloseable {
    /** Longer than a tick of any kernel. */
    private static final long TICK_MS = 50;

    private final Path from;
    private final Path to;
    private final Thread thread;
    private final Set<Object> kept = new HashSet<>();
    /** Owned by the thread. */
    private FileTime changedAt;
    private volatile boolean ended;

    KeptSegments(Path from, Path to) {
        this.from = from;
        this.to = to;
        this.thread = Thread.ofPlatform().daemon().name("kept-segments").start(() -> {
            while (!ended) {
                if (mayHaveChanged()) {
                    collect();
                }
                Await.sleep(Duration.ofMillis(10));
            }
        });
    }

    /** Returns whether files may have been added since the last call. File times have the resolution of a tick, so a very recent change counts again. */
    private boolean mayHaveChanged() {
        if (!Files.isDirectory(from)) {
            return false;
        }
        try {
            FileTime now = Files.getLastModifiedTime(from);
            boolean changed = !now.equals(changedAt) || System.currentTimeMillis() - now.toMillis() < TICK_MS;
            changedAt = now;
            return changed;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private synchronized void collect() {
        if (!Files.isDirectory(from)) {
            return;
        }
        try (DirectoryStream<Path> files = Files.newDirectoryStream(from, "client-*.segment")) {
            for (Path file : files) {
                keep(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void keep(Path file) throws IOException {
        try {
            Object inode = Files.getAttribute(file, "unix:ino");
            if (!kept.contains(inode)) {
                Files.createLink(to.resolve(inode + ".segment"), file);
                kept.add(inode);
            }
        } catch (NoSuchFileException | FileAlreadyExistsException e) {
            return; // the session ended between the listing and the link, or the link was already made
        }
    }

    /** A client's error with the program that logged it. */
    public record ClientError(String command, LoggedError error) {
        @Override
        public String toString() {
            return command + ": " + error.code() + " " + error.text() + " (" + error.count() + " times)";
        }
    }

    public List<ClientError> errors() {
        List<ClientError> found = new ArrayList<>();
        collect();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(to)) {
            for (Path file : files) {
                if (CountersReader.open(file) instanceof CountersReader.Ready(CountersReader reader)) {
                    try (reader) {
                        String command = reader.header().command();
                        reader.errors().forEach(error -> found.add(new ClientError(command, error)));
                    }
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return found;
    }

    /** Returns the submissions to device 0 that the library counted in the process; -1 if it had no segment. */
    public long submissions(long pid) {
        collect();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(to)) {
            for (Path file : files) {
                if (CountersReader.open(file) instanceof CountersReader.Ready(CountersReader reader)) {
                    try (reader) {
                        if (reader.header().clientPid() == pid) {
                            return reader.deviceSubmissions(0);
                        }
                    }
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return -1;
    }

    @Override
    public void close() {
        ended = true;
        try {
            thread.join(5_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
