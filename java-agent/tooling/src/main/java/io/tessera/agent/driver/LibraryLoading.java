package io.tessera.agent.driver;

import io.tessera.agent.boot.Natives;
import io.tessera.agent.internals.BootLibrary;
import java.io.File;

/**
 * Loads the agent's own native library for the bootstrap loader. From JVM 24 on {@code System.load} prints a warning
 * or is forbidden (JEP 472) unless the application was started with a flag; the boot loader's own entry does neither.
 * If that entry is not found, {@code System.load} is used.
 */
final class LibraryLoading {
    /** First JVM whose {@code System.load} warns. */
    private static final int RESTRICTED = 24;

    private LibraryLoading() {
    }

    /** Loads it, or throws the loader's error. */
    static void load(File library) {
        if (Runtime.version().feature() >= RESTRICTED) {
            try {
                if (BootLibrary.load(Natives.class, library)) {
                    Natives.loaded();
                    return;
                }
            } catch (UnsatisfiedLinkError refused) {
                throw refused;
            } catch (LinkageError absent) {
                // This JVM's entry is different: use System.load, which prints at most a warning.
            }
        }
        Natives.load(library.getPath());
    }
}
