package io.tessera.software.texture;

/** Finds what is behind the handles of texture and surface objects; the device layer makes them. Thread-safe. */
@FunctionalInterface
public interface TextureUnit {
    /** A device without texture objects. */
    TextureUnit NONE = handle -> null;

    /** Returns the object of a handle, as {@code tex}, {@code suld} and their queries got it; null if there is none. */
    TextureView find(long handle);
}
