package io.tessera.manager.session;

import java.io.IOException;
import java.nio.file.Path;

/** A directory that another user controls or could replace; nothing is put there. */
public final class UnsafeDirectoryException extends IOException {
    private static final long serialVersionUID = 1L;

    /** Creates an exception with the directory and what is wrong with it. */
    public UnsafeDirectoryException(Path directory, String what) {
        super(directory + " " + what
                + ": remove it, or name another with --runtime-directory or --shm-directory");
    }
}
