package io.tessera.protocol;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Paths at which a manager and its clients meet (SPEC.md, section 1). Pure: computes paths, touches no file.
 *
 * @param path         the runtime directory: sockets and the manager's pid
 * @param shmDirectory directory of the segments
 */
public record RuntimeDirectory(Path path, Path shmDirectory) {
    /** Environment variable that names the runtime directory. */
    public static final String RUNTIME_VARIABLE = "TESSERA_RUNTIME_DIR";
    /** Environment variable that names the directory of the segments. */
    public static final String SHM_VARIABLE = "TESSERA_SHM_DIR";
    /** Directory in which every user finds root's manager. */
    public static final Path SYSTEM = Path.of("/run/tessera");

    /**
     * Returns the runtime directory of a user.
     *
     * @param environment the process's environment; empty values count as unset
     * @param uid         the user
     */
    public static RuntimeDirectory of(Map<String, String> environment, int uid) {
        return new RuntimeDirectory(runtime(environment, uid), shm(environment, uid));
    }

    /** Returns registration sockets in the order in which a client tries them: its own user's, then the system's. */
    public static List<Path> registrationSockets(Map<String, String> environment, int uid) {
        return Stream.of(runtime(environment, uid), SYSTEM).distinct().map(p -> p.resolve("manager.sock")).toList();
    }

    private static Path runtime(Map<String, String> environment, int uid) {
        String named = environment.getOrDefault(RUNTIME_VARIABLE, "");
        if (!named.isEmpty()) {
            return Path.of(named);
        }
        if (uid == 0) {
            return SYSTEM;
        }
        String session = environment.getOrDefault("XDG_RUNTIME_DIR", "");
        return session.isEmpty() ? Path.of("/tmp/tessera-" + Integer.toUnsignedString(uid))
                : Path.of(session, "tessera");
    }

    private static Path shm(Map<String, String> environment, int uid) {
        String named = environment.getOrDefault(SHM_VARIABLE, "");
        return named.isEmpty() ? Path.of("/dev/shm/tessera-" + Integer.toUnsignedString(uid)) : Path.of(named);
    }

    /** Returns the registration socket, SOCK_SEQPACKET. */
    public Path registrationSocket() {
        return path.resolve("manager.sock");
    }

    /** Returns the control socket, SOCK_STREAM. */
    public Path controlSocket() {
        return path.resolve("control.sock");
    }

    /** Returns the file with the manager's pid, locked while it lives. */
    public Path pidFile() {
        return path.resolve("manager.pid");
    }

    /** Returns the segment of a client. */
    public Path segment(long clientId) {
        return shmDirectory.resolve("client-" + Long.toUnsignedString(clientId) + ".segment");
    }
}
