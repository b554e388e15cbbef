package io.tessera.agent.start;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;

/** Folder of the instrumented classes: the user's choice, or else the folder of Tessera's other caches. */
final class CacheFolder {
    private CacheFolder() {
    }

    /**
     * Returns the folder, which need not exist.
     *
     * @param option the option {@code cache}, or null
     * @return the folder; null: nothing is to be kept, or the user has no home directory
     */
    static Path of(String option) {
        if ("off".equals(option)) {
            return null;
        }
        try {
            if (option != null) {
                return Path.of(option).toAbsolutePath();
            }
            String[] parents = {System.getenv("TESSERA_CACHE_DIR"), System.getenv("XDG_CACHE_HOME"),
                    System.getProperty("user.home")};
            String[] below = {"agent", "tessera/agent", ".cache/tessera/agent"};
            for (int i = 0; i < parents.length; i++) {
                if (parents[i] != null && parents[i].startsWith("/")) {
                    return Path.of(parents[i], below[i]);
                }
            }
        } catch (InvalidPathException noPath) {
            return null;
        }
        return null;
    }
}
