package io.tessera.guardian.cache;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Passes everything on until a step that fails: a write does only a part of its work first. Either the disk fails there
 * ({@link IOException}) and goes on failing while it is full, or the process ends there ({@link Death}).
 */
final class FaultyFiles implements EntryFiles {
    /** The process died: only the test catches this. */
    static final class Death extends Error {
        private static final long serialVersionUID = 1;
    }

    private final EntryFiles files;
    private final boolean dies;
    private int stepsLeft;

    FaultyFiles(EntryFiles files, int stepsLeft, boolean dies) {
        this.files = files;
        this.stepsLeft = stepsLeft;
        this.dies = dies;
    }

    /** Lets this many more steps succeed. */
    void allow(int steps) {
        stepsLeft = steps;
    }

    private boolean fails() {
        return stepsLeft-- <= 0;
    }

    private IOException failure() {
        if (dies) {
            throw new Death();
        }
        return new IOException("No space left on device");
    }

    @Override
    public List<Listed> list() throws IOException {
        return files.list();
    }

    @Override
    public byte[] read(String name) throws IOException {
        return files.read(name);
    }

    @Override
    public NewFile create(String name) throws IOException {
        if (fails()) {
            throw failure();
        }
        NewFile file = files.create(name);
        return new NewFile() {
            @Override
            public void write(ByteBuffer bytes) throws IOException {
                if (fails()) {
                    file.write(bytes.slice().limit(bytes.remaining() / 2));
                    throw failure();
                }
                file.write(bytes);
            }

            @Override
            public void force() throws IOException {
                if (fails()) {
                    throw failure();
                }
                file.force();
            }

            @Override
            public void close() throws IOException {
                file.close();
            }
        };
    }

    @Override
    public void rename(String from, String to) throws IOException {
        if (fails()) {
            throw failure();
        }
        files.rename(from, to);
        if (fails()) {
            throw failure();
        }
    }

    @Override
    public boolean delete(String name) throws IOException {
        return files.delete(name);
    }

    @Override
    public void touch(String name, Instant when) throws IOException {
        files.touch(name, when);
    }

    @Override
    public Optional<Closeable> tryLock() throws IOException {
        return files.tryLock();
    }
}
