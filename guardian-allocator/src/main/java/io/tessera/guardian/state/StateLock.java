package io.tessera.guardian.state;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Keeps a second process, and a second opening in this one, away from a store. It is on a file of its own, because the
 * store's file is replaced now and then; the operating system gives it back when the process dies. Thread-safe.
 */
public final class StateLock implements AutoCloseable {
    private final FileLock lock;

    private StateLock(FileLock lock) {
        this.lock = lock;
    }

    /**
     * Takes the lock for a store.
     *
     * @param path of the store; the lock's file lies beside it
     * @return to be closed after the store
     * @throws StateException if another one has it, or if the file cannot be made
     */
    public static StateLock take(Path path) throws StateException {
        FileLock taken = null;
        try {
            FileChannel channel = FileChannel.open(path.resolveSibling(path.getFileName() + ".lock"),
                    StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            try {
                taken = channel.tryLock();
            } catch (OverlappingFileLockException e) {
                taken = null; // this process has it
            }
            if (taken == null) {
                channel.close();
            }
        } catch (IOException e) {
            throw new StateException("state file " + path + " cannot be locked: " + e.getMessage(), e);
        }
        if (taken == null) {
            throw new StateException("state file " + path + " is open already");
        }
        return new StateLock(taken);
    }

    /** Releases the lock. A second call has no effect. */
    @Override
    public void close() {
        try {
            lock.acquiredBy().close();
        } catch (IOException e) {
            throw new UncheckedIOException("the lock of a state file cannot be given back", e);
        }
    }
}
