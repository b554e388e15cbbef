package io.tessera.agent.driver;

import io.tessera.agent.boot.Natives;
import io.tessera.agent.host.JavaBase;
import java.io.File;
import java.lang.instrument.Instrumentation;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Path;

/**
 * Loads the agent's own native library for the bootstrap loader. From JVM 24 on {@code System.load} prints a warning or is
 * forbidden (JEP 472) unless the application was started with a flag; the boot loader's own entry does neither. Where that
 * entry is not found, {@code System.load}.
 */
final class LibraryLoading {
    /** First JVM whose {@code System.load} warns. */
    private static final int RESTRICTED = 24;

    private LibraryLoading() {
    }

    /** Loads it, or throws the loader's error. */
    static void load(Path library, Instrumentation instrumentation) {
        if (Runtime.version().feature() < RESTRICTED || !loadQuietly(library.toFile(), instrumentation)) {
            Natives.load(library.toString());
        }
    }

    private static boolean loadQuietly(File library, Instrumentation instrumentation) {
        try {
            JavaBase.export(instrumentation, "jdk.internal.loader");
            Object libraries = Class.forName("jdk.internal.loader.BootLoader").getMethod("getNativeLibraries").invoke(null);
            Object loaded = libraries.getClass().getMethod("loadLibrary", Class.class, File.class)
                    .invoke(libraries, Natives.class, library);
            if (loaded == null) {
                throw new UnsatisfiedLinkError(library.toString());
            }
            Natives.loaded();
            return true;
        } catch (InvocationTargetException failure) {
            if (failure.getCause() instanceof UnsatisfiedLinkError) {
                throw (UnsatisfiedLinkError) failure.getCause();
            }
            return false;
        } catch (ReflectiveOperationException | RuntimeException absent) {
            return false;
        }
    }
}
