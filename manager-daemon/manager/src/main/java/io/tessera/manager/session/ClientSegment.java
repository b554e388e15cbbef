package io.tessera.manager.session;

import io.tessera.os.FilePort;
import io.tessera.os.LinuxException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/**
 * The segment of one client: file, descriptor and mapping. Owned by its session, which closes it on the owner thread.
 *
 * <p>The descriptor stays open because the peer owns the file and could truncate it, which {@link #isWhole} detects.
 */
public final class ClientSegment {
    private final FilePort files;
    private final Path path;
    private final int descriptor;
    private final Arena arena;
    private final MemorySegment memory;

    ClientSegment(FilePort files, Path path, int descriptor, Arena arena, MemorySegment memory) {
        this.files = files;
        this.path = path;
        this.descriptor = descriptor;
        this.arena = arena;
        this.memory = memory;
    }

    /** Returns the mapping. */
    public MemorySegment memory() {
        return memory;
    }

    /** Returns its file. */
    public Path path() {
        return path;
    }

    int descriptor() {
        return descriptor;
    }

    /** Returns whether the file still has all its bytes, so that an access to the mapping cannot fault. */
    boolean isWhole() throws LinuxException {
        return files.status(descriptor).bytes() >= memory.byteSize();
    }

    /** Unmaps the segment and removes its file; the client keeps its own mapping. */
    void close() throws LinuxException {
        arena.close();
        try {
            files.close(descriptor);
        } finally {
            files.remove(path);
        }
    }
}
