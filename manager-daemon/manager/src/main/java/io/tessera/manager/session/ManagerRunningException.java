package io.tessera.manager.session;

import java.io.IOException;
import java.nio.file.Path;

/** Another manager holds the runtime directory. */
public final class ManagerRunningException extends IOException {
    private static final long serialVersionUID = 1L;

    /** Creates an exception with the directory and the pid in its pid file. */
    public ManagerRunningException(Path directory, String pid) {
        super("a manager (pid " + pid + ") already runs in " + directory
                + ": end it, or name another directory with --runtime-directory");
    }
}
