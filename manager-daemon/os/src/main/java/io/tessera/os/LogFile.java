package io.tessera.os;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * The file that standard error of this process goes to. When it has become too large it is renamed to FILE.1, and earlier ones to FILE.2 and FILE.3;
 * the oldest is removed, and a new file begins. If standard error is anything other than a file in the given folder, nothing happens. One owner
 * thread.
 */
public final class LogFile {
    /** Maximum size of a log; together with earlier ones, four times as much. */
    public static final long MOST_BYTES = 8L << 20;
    private static final int KEPT = 3;
    private static final int OUTPUT = 1;
    private static final int ERROR = 2;
    private static final Path ERROR_LINK = Path.of("/proc/self/fd", Integer.toString(ERROR));

    private final FilePort files;
    private final SharedMemoryPort descriptors;
    private final Path folder;
    private final long mostBytes;

    /**
     * Creates an object that has not checked anything yet.
     *
     * @param folder folder of the logs that may be renamed
     */
    public LogFile(FilePort files, SharedMemoryPort descriptors, Path folder, long mostBytes) {
        this.files = files;
        this.descriptors = descriptors;
        this.folder = folder;
        this.mostBytes = mostBytes;
    }

    /**
     * Begins a new file if the present one is too large.
     *
     * @return whether it did
     */
    public boolean keepSmall() throws IOException {
        FileStatus now = files.status(ERROR);
        if (!now.isRegularFile() || now.bytes() <= mostBytes) {
            return false;
        }
        Path log = Files.readSymbolicLink(ERROR_LINK);
        if (!Files.exists(log) || !log.getParent().equals(folder.toRealPath())) {
            return false; // removed meanwhile, or a file of a user who started this process by hand
        }
        for (int number = KEPT; number > 1; number--) {
            Path newer = numbered(log, number - 1);
            if (Files.exists(newer)) {
                Files.move(newer, numbered(log, number), StandardCopyOption.REPLACE_EXISTING);
            }
        }
        Files.move(log, numbered(log, 1), StandardCopyOption.REPLACE_EXISTING);
        boolean shared = files.status(OUTPUT).inode() == now.inode();
        int next = files.open(log, FilePort.Open.APPEND, now.permissions());
        try {
            descriptors.duplicate(next, ERROR);
            if (shared) {
                descriptors.duplicate(next, OUTPUT);
            }
        } finally {
            files.close(next);
        }
        return true;
    }

    private static Path numbered(Path log, int number) {
        return log.resolveSibling(log.getFileName() + "." + number);
    }
}
