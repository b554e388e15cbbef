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
     * Maps every segment of the given folders; a folder that is not there holds none. The folder of root's manager can
     * be entered by everybody and listed by nobody else: there only the client with the wanted number can be found.
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
            // Being made at this moment, or removed between the listing and now: no client yet, or no more.
            case CountersReader.Awaiting _ -> {}
            case CountersReader.BadVersion bad -> unreadable.add(file + ": protocol version "
                    + Integer.toUnsignedString(bad.version()) + ", not ours");
            case CountersReader.BadSize bad -> unreadable.add(file + ": its size does not fit, " + bad.bytes());
            case CountersReader.BadMagic _ -> unreadable.add(file + ": no segment");
        }
    }

    /** The segments by client id. */
    List<CountersReader> readers() {
        return readers;
    }

    /** What was found and could not be read, and why. */
    List<String> unreadable() {
        return unreadable;
    }

    /** Folders whose segments could not be looked for. */
    List<String> unlisted() {
        return unlisted;
    }

    @Override
    public void close() {
        readers.forEach(CountersReader::close);
    }
}
