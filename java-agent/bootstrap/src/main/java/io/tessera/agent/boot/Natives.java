package io.tessera.agent.boot;

import java.nio.ByteBuffer;

/**
 * The agent's native functions, from {@code libtessera-agent.so}. They live in the bootstrap loader because a library
 * belongs to the loader that loaded it, and the agent's must outlive every class. Any thread; all need
 * {@link #available()}.
 */
public final class Natives {
    private static volatile boolean available;

    private Natives() {
    }

    /**
     * Returns whether the library is loaded.
     *
     * @return false: the native methods must not be called
     */
    public static boolean available() {
        return available;
    }

    /** Records that the library has been loaded for this class's loader by other code. */
    public static void loaded() {
        available = true;
    }

    /**
     * Loads the library, for this class's loader.
     *
     * @param path its absolute path
     */
    public static void load(String path) {
        System.load(path);
        available = true;
    }

    /**
     * Sets a variable of the process's native environment if it is not set. Must be called before other threads read it.
     *
     * @param name the variable
     * @param value its value
     * @return whether this call set it
     */
    public static native boolean setIfAbsent(String name, String value);

    /**
     * Removes a variable from the process's native environment. Must be called before other threads read it.
     *
     * @param name the variable
     */
    public static native void unset(String name);

    /**
     * Opens a library for the whole process (RTLD_NOW, RTLD_GLOBAL); it stays open.
     *
     * @param path its absolute path
     * @return null, or the loader's error message
     */
    public static native String open(String path);

    /**
     * Returns the SHA-256 of a file as it is on disk.
     *
     * @param path the file
     * @return 64 lower-case hexadecimal digits, or an error message
     */
    public static native String sha256(String path);

    /**
     * Returns which CUDA driver library the process has.
     *
     * @return 0: none yet; 1: the vendor's; 2: ours
     */
    public static native int driver();

    /**
     * Returns the client segment, read-only; SPEC.md defines its size and layout.
     *
     * @return a view of it; null where the driver is not ours
     */
    public static native ByteBuffer segment();

    /**
     * Frees device memory in the context that it belongs to.
     *
     * @param address the memory
     * @return the driver's result; 0 is success
     */
    public static native int free(long address);
}
