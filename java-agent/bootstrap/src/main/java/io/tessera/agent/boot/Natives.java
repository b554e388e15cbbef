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
     * Whether the library is loaded.
     *
     * @return false: the native methods must not be called
     */
    public static boolean available() {
        return available;
    }

    /** The library is loaded now, by somebody who asked for this class's loader. */
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
     * Sets a variable of the process's native environment if it is not set. Only before other threads read it.
     *
     * @param name the variable
     * @param value its value
     * @return whether it was set by this
     */
    public static native boolean setIfAbsent(String name, String value);

    /**
     * Takes a variable out of the process's native environment. Only before other threads read it.
     *
     * @param name the variable
     */
    public static native void unset(String name);

    /**
     * Opens a library for the whole process (RTLD_NOW, RTLD_GLOBAL); it stays open.
     *
     * @param path its absolute path
     * @return null, or the loader's complaint
     */
    public static native String open(String path);

    /**
     * SHA-256 of a file as it lies on disk.
     *
     * @param path the file
     * @return 64 small hexadecimal digits, or what went wrong
     */
    public static native String sha256(String path);

    /**
     * Which CUDA driver library the process has.
     *
     * @return 0: none yet; 1: the vendor's; 2: ours
     */
    public static native int driver();

    /**
     * The client segment, read-only, of the size and layout that SPEC.md gives.
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
