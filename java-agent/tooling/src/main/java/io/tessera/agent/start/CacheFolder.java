package io.tessera.agent.start;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;

/** Where instrumented classes are kept: the user's choice, else the folder of Tessera's other caches. */
final class CacheFolder {
    private CacheFolder() {
    }

    /**
     * The folder, which need not exist.
     *
     * @param option the option {@code cache}, or null
     * @return null: nothing is to be kept, or the user has no home
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
