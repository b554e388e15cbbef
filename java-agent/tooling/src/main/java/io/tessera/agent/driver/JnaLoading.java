package io.tessera.agent.driver;

import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Map;

/**
 * Fallback if the agent's own native library cannot be loaded: JNA sets the environment and opens the driver library. The driver is the
 * same; waits for turns and {@code release} need the agent's library and are then missing. Not used from JVM 24 on, where JNA itself would
 * print a warning on the application's stderr or be refused.
 */
final class JnaLoading {
    /** First JVM on which JNA's own library is a restricted one (JEP 472). */
    private static final int RESTRICTED = 24;
    /** dlfcn.h of glibc: RTLD_NOW | RTLD_GLOBAL. */
    private static final int NOW_AND_GLOBAL = 0x2 | 0x100;

    private JnaLoading() {
    }

    /** Functions of the C library. */
    interface CLibrary extends Library {
        /** setenv(3). */
        int setenv(String name, String value, int overwrite);

        /** unsetenv(3). */
        int unsetenv(String name);
    }

    static boolean isPossible() {
        return Runtime.version().feature() < RESTRICTED;
    }

    /** Sets the variables that are not set, and opens the library, whose hash must be the given one. */
    static void load(File driver, String expected, Map<String, String> environment) throws IOException {
        if (!sha256(driver).equals(expected)) {
            throw new NativeFiles.WrongHashException(driver.getName() + " is not the library that it was built with");
        }
        // The JVM takes its copy of the environment now: what it does not hold is ours, and is taken out again.
        System.getenv();
        String before = System.getProperty("jna.tmpdir");
        System.setProperty("jna.tmpdir", driver.getParent());
        try {
            CLibrary c = Native.load("c", CLibrary.class);
            for (Map.Entry<String, String> setting : environment.entrySet()) {
                c.setenv(setting.getKey(), setting.getValue(), 0);
            }
            NativeLibrary.getInstance(driver.getPath(), Map.of(Library.OPTION_OPEN_FLAGS, NOW_AND_GLOBAL));
            for (String name : environment.keySet()) {
                if (System.getenv(name) == null) {
                    c.unsetenv(name);
                }
            }
        } catch (UnsatisfiedLinkError | NoClassDefFoundError | ExceptionInInitializerError failure) {
            throw new IOException("nor by JNA: " + failure.getMessage(), failure);
        } finally {
            // The application may have a JNA of its own.
            if (before == null) {
                System.clearProperty("jna.tmpdir");
            } else {
                System.setProperty("jna.tmpdir", before);
            }
        }
    }

    private static String sha256(File file) throws IOException {
        try {
            StringBuilder hex = new StringBuilder();
            for (byte b : MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file.toPath()))) {
                hex.append(Character.forDigit(b >> 4 & 15, 16)).append(Character.forDigit(b & 15, 16));
            }
            return hex.toString();
        } catch (NoSuchAlgorithmException absent) {
            throw new IOException(absent);
        }
    }
}
