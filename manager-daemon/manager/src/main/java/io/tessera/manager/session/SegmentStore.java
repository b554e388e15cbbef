package io.tessera.manager.session;

import io.tessera.os.Errno;
import io.tessera.os.FilePort;
import io.tessera.os.LinuxException;
import io.tessera.os.LinuxPort;
import io.tessera.protocol.RuntimeDirectory;
import io.tessera.protocol.segment.SegmentLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/** Creates the files of segments. One owner thread, which also closes them. */
public final class SegmentStore {
    private static final int PERMISSIONS = 0600;
    /** Maximum number of taken names in a row: another manager that shares the directory does not leave more. */
    private static final int MOST_NAMES_TAKEN = 100_000;

    private final LinuxPort os;
    private final RuntimeDirectory directory;
    private long lastId;

    /** Creates a store in the directory of segments, which must exist. */
    public SegmentStore(LinuxPort os, RuntimeDirectory directory) {
        this.os = os;
        this.directory = directory;
    }

    /**
     * A new segment with the number of its client.
     *
     * @param clientId number that no other client of this manager had
     * @param segment  all zeros, its space reserved
     */
    public record Created(long clientId, ClientSegment segment) {
    }

    /**
     * Creates a segment that only one user can open.
     *
     * @throws NoSpaceException if its bytes cannot be reserved
     * @throws LinuxException   if the file cannot be created
     */
    public Created create(int ownerUid) throws NoSpaceException, LinuxException {
        FilePort files = os.files();
        for (int attempt = 0; attempt < MOST_NAMES_TAKEN; attempt++) {
            long clientId = ++lastId;
            Path path = directory.segment(clientId);
            int descriptor;
            try {
                descriptor = files.open(path, FilePort.Open.CREATE_NEW, PERMISSIONS);
            } catch (LinuxException e) {
                if (e.errno() == Errno.EEXIST) {
                    continue; // of another manager of the same user
                }
                if (e.errno() == Errno.ENOSPC) {
                    throw new NoSpaceException(path, SegmentLayout.SEGMENT_BYTES, e.errno());
                }
                throw e;
            }
            return new Created(clientId, fill(path, descriptor, ownerUid));
        }
        throw new LinuxException("open", directory.shmDirectory() + ", all names are taken", Errno.EEXIST);
    }

    private ClientSegment fill(Path path, int descriptor, int ownerUid) throws NoSpaceException, LinuxException {
        FilePort files = os.files();
        Arena arena = Arena.ofConfined();
        boolean done = false;
        try {
            int errno = files.reserve(descriptor, SegmentLayout.SEGMENT_BYTES);
            if (errno != 0) {
                throw new NoSpaceException(path, SegmentLayout.SEGMENT_BYTES, errno);
            }
            files.permissions(descriptor, PERMISSIONS);
            if (ownerUid != os.processes().uid() && os.processes().uid() == 0) {
                files.owner(descriptor, ownerUid);
            }
            MemorySegment memory = files.map(descriptor, SegmentLayout.SEGMENT_BYTES, true, arena);
            ClientSegment segment = new ClientSegment(files, path, descriptor, arena, memory);
            done = true;
            return segment;
        } finally {
            if (!done) {
                arena.close();
                files.close(descriptor);
                files.remove(path);
            }
        }
    }
}
