package io.tessera.os;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * A file with the pid of this process, locked while it lives: a process that finds the file locked knows that the process named in it is alive.
 * Closing removes it. One owner thread.
 */
public final class PidFile implements AutoCloseable {
    private static final int PERMISSIONS = 0644;
    private static final int LONGEST_PID = 16;

    private final FilePort files;
    private final Path path;
    private final int descriptor;

    /** Another process has locked the file. */
    public static final class HeldException extends IOException {
        private static final long serialVersionUID = 1L;
        private final String pid;

        HeldException(Path path, String pid) {
            super(path + " is locked by process " + pid);
            this.pid = pid;
        }

        /** Returns the process named in the file; {@code unknown} if it names none yet. */
        public String pid() {
            return pid;
        }
    }

    private PidFile(FilePort files, Path path, int descriptor) {
        this.files = files;
        this.path = path;
        this.descriptor = descriptor;
    }

    /**
     * Locks the file and writes this process's pid. A process that ends removes its file while it holds the lock, so the file that was locked may
     * have lost its name meanwhile; then the next one is tried.
     *
     * @throws HeldException if another process has it
     */
    public static PidFile lock(FilePort files, Path path, int pid) throws IOException {
        for (int attempt = 0; attempt < 10; attempt++) {
            int descriptor = files.open(path, FilePort.Open.CREATE, PERMISSIONS);
            boolean kept = false;
            try {
                if (!files.lock(descriptor)) {
                    throw new HeldException(path, read(files, descriptor));
                }
                if (hasName(files, descriptor, path)) {
                    files.write(descriptor, (pid + "\n").getBytes(StandardCharsets.US_ASCII));
                    kept = true;
                    return new PidFile(files, path, descriptor);
                }
            } finally {
                if (!kept) {
                    files.close(descriptor);
                }
            }
        }
        throw new IOException("the pid file " + path + " changes all the time: processes are starting and ending there");
    }

    private static String read(FilePort files, int descriptor) throws LinuxException {
        String pid = new String(files.read(descriptor, LONGEST_PID), StandardCharsets.US_ASCII).strip();
        return pid.isEmpty() ? "unknown" : pid;
    }

    private static boolean hasName(FilePort files, int descriptor, Path path) throws LinuxException {
        int named;
        try {
            named = files.open(path, FilePort.Open.READ, 0);
        } catch (LinuxException e) {
            if (e.errno() == Errno.ENOENT) {
                return false;
            }
            throw e;
        }
        try {
            return files.status(named).inode() == files.status(descriptor).inode();
        } finally {
            files.close(named);
        }
    }

    /** Removes the file, if this process still owns it, and releases the lock. */
    @Override
    public void close() throws LinuxException {
        try {
            if (hasName(files, descriptor, path)) {
                files.remove(path);
            }
        } finally {
            files.close(descriptor);
        }
    }
}
