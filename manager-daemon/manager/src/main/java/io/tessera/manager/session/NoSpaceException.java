package io.tessera.manager.session;

import io.tessera.os.Errno;
import java.io.IOException;
import java.nio.file.Path;

/** There was no space for a segment. The client is refused; others are not affected. */
public final class NoSpaceException extends IOException {
    private static final long serialVersionUID = 1L;

    /** Creates an exception with the file and the error number of the reservation. */
    public NoSpaceException(Path path, long bytes, int errno) {
        super("no space for a segment of " + bytes + " bytes in " + path.getParent() + " (" + Errno.name(errno)
                + "; make room there, or start the manager with another TESSERA_SHM_DIR)");
    }
}
