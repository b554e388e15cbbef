package io.tessera.guardian.cache;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** The cache's directory; tests put faults between. Names are of files in it. Thread-safe. */
interface EntryFiles {
    /**
     * A file in a listing.
     *
     * @param name     its name
     * @param bytes    its size
     * @param lastUsed time of the last write or touch
     */
    record Listed(String name, long bytes, Instant lastUsed) {
    }

    /** A new file that is being written by one thread. */
    interface NewFile extends Closeable {
        /** Appends everything that remains in the buffer. */
        void write(ByteBuffer bytes) throws IOException;

        /** Returns once everything written survives a power failure. */
        void force() throws IOException;
    }

    /** The regular files; one that vanishes meanwhile may be missing. */
    List<Listed> list() throws IOException;

    /**
     * All bytes of a file, which may be replaced or deleted meanwhile.
     *
     * @throws java.nio.file.NoSuchFileException if there is none
     */
    byte[] read(String name) throws IOException;

    /** Makes a file that did not exist, readable by its owner alone. */
    NewFile create(String name) throws IOException;

    /** Gives a file another name in one step, replacing what had it, and makes that durable. */
    void rename(String from, String to) throws IOException;

    /** Deletes a file if it is there; says whether it was. */
    boolean delete(String name) throws IOException;

    /** Sets when a file was last used; a file that is gone stays gone. */
    void touch(String name, Instant when) throws IOException;

    /** Takes the lock for tidying up, if no other process or thread has it; closing gives it back. */
    Optional<Closeable> tryLock() throws IOException;
}
