package io.tessera.cli.segments;

import io.tessera.protocol.segment.CountersReader;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The segments that can be read now.
 *
 * <p>Owns the mappings of {@link #readers()}: close it. One thread.
 */
final class SegmentFiles implements AutoCloseable {
    private final List<CountersReader> readers = new ArrayList<>();
    private final List<String> unreadable = new ArrayList<>();
    private final List<String> unlisted = new ArrayList<>();

    private SegmentFiles() {
    }

    /**
     * Maps every segment of the given folders; a missing folder has none. Other users can enter the folder of root's manager but not list
     * it, so only the client with the wanted number can be found there.
     *
     * @param wanted a client's number, or null
     * @throws IOException if a folder cannot be read for another reason than permission
     */
    static SegmentFiles open(List<Path> folders, Long wanted) throws IOException {
        SegmentFiles files = new SegmentFiles();
        for (Path folder : folders) {
            if (!Files.isDirectory(folder)) {
                continue;
            }
            try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder, "client-*.segment")) {
                for (Path entry : entries) {
                    files.add(entry);
                }
            } catch (AccessDeniedException e) {
                files.unlisted.add(folder + ": root's to list; name a client by its number (tessera status shows it)");
                if (wanted != null) {
                    files.add(folder.resolve("client-" + wanted + ".segment"));
                }
            }
        }
        files.readers.sort(Comparator.comparingLong(r -> r.header().clientId()));
        return files;
    }

    private void add(Path file) throws IOException {
        CountersReader.Result result;
        try {
            result = CountersReader.open(file);
        } catch (AccessDeniedException e) {
            unreadable.add(file + ": not yours to read");
            return;
        }
        switch (result) {
            case CountersReader.Ready ready -> readers.add(ready.reader());
            // It is being created, or was removed after the listing: not a client yet, or no longer one.
            case CountersReader.Awaiting _ -> {}
            case CountersReader.BadVersion bad -> unreadable.add(file + ": protocol version "
                    + Integer.toUnsignedString(bad.version()) + ", not ours");
            case CountersReader.BadSize bad -> unreadable.add(file + ": its size does not fit, " + bad.bytes());
            case CountersReader.BadMagic _ -> unreadable.add(file + ": no segment");
        }
    }

    /** Returns the segments by client id. */
    List<CountersReader> readers() {
        return readers;
    }

    /** Returns the segments that could not be read, with the reasons. */
    List<String> unreadable() {
        return unreadable;
    }

    /** Returns the folders whose segments could not be listed. */
    List<String> unlisted() {
        return unlisted;
    }

    @Override
    public void close() {
        readers.forEach(CountersReader::close);
    }
}
