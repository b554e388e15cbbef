package io.tessera.guardian.trust;

import java.nio.file.Path;
import java.util.Map;

/** Location of a user's list of trusted images. Computes a path and touches no file. */
public final class TrustLocation {
    /** Environment variable that names the state directory. */
    public static final String VARIABLE = "TESSERA_STATE_DIR";
    /** Location of root's list (FHS 3.0, section 5.8). */
    private static final Path SYSTEM = Path.of("/var/lib/tessera");
    private static final String FILE = "trusted";

    private TrustLocation() {
    }

    /**
     * {@code $TESSERA_STATE_DIR}, else /var/lib/tessera for root, else {@code $XDG_STATE_HOME/tessera}, else
     * {@code ~/.local/state/tessera}; in it the file {@code trusted}.
     *
     * @param environment the process's environment; empty values count as unset
     * @param uid         the user
     * @param home        the user's home directory, for an environment that does not say
     */
    public static Path of(Map<String, String> environment, int uid, Path home) {
        String named = environment.getOrDefault(VARIABLE, "");
        if (!named.isEmpty()) {
            return Path.of(named).resolve(FILE);
        }
        if (uid == 0) {
            return SYSTEM.resolve(FILE);
        }
        String states = environment.getOrDefault("XDG_STATE_HOME", "");
        return (states.isEmpty() ? home.resolve(".local/state") : Path.of(states)).resolve("tessera").resolve(FILE);
    }
}
