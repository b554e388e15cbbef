package io.tessera.agent.internals;

import java.io.File;
import jdk.internal.loader.BootLoader;

/** Loads a native library for the bootstrap loader. Needs {@code jdk.internal.loader} exported; JVM 24 and newer. */
public final class BootLibrary {
    private BootLibrary() {
    }

    /**
     * Loads the library.
     *
     * @param user a class of the bootstrap loader that has the native methods
     * @param library its file
     * @return false: the JVM did not load it
     * @throws LinkageError if the JVM has no such entry, or the loader reports an error
     */
    public static boolean load(Class<?> user, File library) {
        return BootLoader.getNativeLibraries().loadLibrary(user, library) != null;
    }
}
