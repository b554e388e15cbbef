package io.tessera.guardian.cache;

import java.nio.file.Path;
import java.util.Map;

/** Location of a user's cache. Computes a path and touches no file. */
public final class CacheLocation {
    /** Environment variable that names the directory. */
    public static final String VARIABLE = "TESSERA_CACHE_DIR";
    /** Location of root's cache (FHS 3.0, section 5.5). */
    private static final Path SYSTEM = Path.of("/var/cache/tessera");
    private static final String SUBJECT = "code";

    private CacheLocation() {
    }

    /**
     * {@code $TESSERA_CACHE_DIR}, else /var/cache/tessera for root, else {@code $XDG_CACHE_HOME/tessera}, else
     * {@code ~/.cache/tessera}; below it {@code code}.
     *
     * @param environment the process's environment; empty values count as unset
     * @param uid         the user
     * @param home        the user's home directory, for an environment that does not say
     */
    public static Path of(Map<String, String> environment, int uid, Path home) {
        String named = environment.getOrDefault(VARIABLE, "");
        if (!named.isEmpty()) {
            return Path.of(named).resolve(SUBJECT);
        }
        if (uid == 0) {
            return SYSTEM.resolve(SUBJECT);
        }
        String caches = environment.getOrDefault("XDG_CACHE_HOME", "");
        return (caches.isEmpty() ? home.resolve(".cache") : Path.of(caches)).resolve("tessera").resolve(SUBJECT);
    }
}
