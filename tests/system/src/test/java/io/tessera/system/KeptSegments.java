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
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Keeps every client's segment by a second link, because the manager removes the file when the session ends: what a
 * client logged and counted can be read after its death.
 */
final class KeptSegments implements AutoCloseable {
    private final Path from;
    private final Path to;
    private final Thread thread;
    private volatile boolean ended;

    KeptSegments(Path from, Path to) {
        this.from = from;
        this.to = to;
        this.thread = Thread.ofPlatform().daemon().name("kept-segments").start(() -> {
            while (!ended) {
                collect();
                Await.sleep(Duration.ofMillis(10));
            }
        });
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
        Object inode;
        try {
            inode = Files.getAttribute(file, "unix:ino");
            Path link = to.resolve(inode + ".segment");
            if (!Files.exists(link)) {
                Files.createLink(link, file);
            }
        } catch (NoSuchFileException | FileAlreadyExistsException e) {
            return; // the session ended between the listing and the link; or a link of this moment is there
        }
    }

    /** A client's error with the program that logged it. */
    record ClientError(String command, LoggedError error) {
        @Override
        public String toString() {
            return command + ": " + error.code() + " " + error.text() + " (" + error.count() + " times)";
        }
    }

    List<ClientError> errors() {
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

    /** Submissions to device 0 that the library counted in the process; -1 where it had no segment. */
    long submissions(long pid) {
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
