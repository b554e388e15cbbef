package io.tessera.executor;

import io.tessera.os.linux.Linux;
import java.nio.file.Path;

/**
 * The socket of an executor, and the user of its manager. The manager of root runs its executors as another user, but still serves all users.
 *
 * @param socket     the socket to which clients connect
 * @param managerUid the user of the manager that starts the executor
 */
public record ExecutorPlace(Path socket, int managerUid) {
    private static final int EVERYBODY = 0666;
    private static final int OWN = 0600;

    /** Returns the place of an executor for a manager of this process's own user. */
    public static ExecutorPlace own(Path socket) {
        return new ExecutorPlace(socket, Linux.open().processes().uid());
    }

    /** Returns the permissions of the socket. If the manager is root's, it is open to every user, because only announced clients are admitted. */
    int permissions() {
        return managerUid == 0 ? EVERYBODY : OWN;
    }
}
