package io.tessera.guardian.image;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * An image in a file on disk. Refers to the scanned file's mapping, which has to be open when the bytes are taken.
 * Immutable.
 *
 * @param where  what part of the file holds it: a section's name ({@code .nv_fatbin}), the name of an archive's member
 *               with its section, or {@code file} where the whole file is the image
 * @param offset from the file's start, in bytes
 * @param kind   what it is
 * @param mapped its bytes in the mapping
 */
public record FoundImage(String where, long offset, ImageKind kind, MemorySegment mapped) {
    /** Its size in bytes. */
    public long sizeBytes() {
        return mapped.byteSize();
    }

    /**
     * A copy of its bytes.
     *
     * @throws ImageException if it is larger than an array
     */
    public byte[] bytes() throws ImageException {
        if (mapped.byteSize() > Integer.MAX_VALUE - 8) {
            throw new ImageException("image of " + mapped.byteSize() + " bytes at " + offset + " is too large");
        }
        return mapped.toArray(ValueLayout.JAVA_BYTE);
    }

    /** The image as something to load; its bytes are those of the mapping. */
    public ModuleImage image() {
        return ModuleImage.of(mapped);
    }
}
