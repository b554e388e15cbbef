package io.tessera.guardian.image;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * An image in a file on disk. Refers to the scanned file's mapping, which has to be open when the bytes are taken. Immutable.
 *
 * @param where    the part of the file that holds it: a section's name ({@code .nv_fatbin}), the name of an archive's member with its section, or
 *                 {@code file} where the whole file is the image
 * @param offset   from the file's start, in bytes
 * @param kind     kind of the unpacked image
 * @param mapped   its bytes in the mapping, as they are stored
 * @param packing  compression of the image as a whole; none for a fat binary, whose entries are compressed separately
 * @param unpacked its size once unpacked, in bytes
 */
public record FoundImage(String where, long offset, ImageKind kind, MemorySegment mapped, Compression packing, int unpacked) {
    /** Section in which compilers put code that is linked with other code before it runs. */
    private static final String RELOCATABLE = "__nv_relfatbin";
    private static final int LONGEST_ARRAY = Integer.MAX_VALUE - 8;

    /** Creates an image that lies in the file uncompressed. */
    FoundImage(String where, long offset, ImageKind kind, MemorySegment mapped) {
        this(where, offset, kind, mapped, Compression.NONE, (int) Math.min(mapped.byteSize(), Integer.MAX_VALUE));
    }

    /** Returns whether an image in that part of a file is linked with the file's other images. */
    public static boolean isRelocatable(String where) {
        return where.endsWith(RELOCATABLE);
    }

    /** Returns whether it is linked with other images of its file. */
    public boolean isRelocatable() {
        return isRelocatable(where);
    }

    /** The bytes that it takes in the file. */
    public long sizeBytes() {
        return mapped.byteSize();
    }

    /**
     * A copy of its bytes, unpacked.
     *
     * @throws ImageException if it is larger than an array, or does not unpack
     */
    public byte[] bytes() throws ImageException {
        if (packing != Compression.NONE) {
            return packing.unpack(mapped, unpacked);
        }
        if (mapped.byteSize() > LONGEST_ARRAY) {
            throw new ImageException("image of " + mapped.byteSize() + " bytes at " + offset + " is too large");
        }
        return mapped.toArray(ValueLayout.JAVA_BYTE);
    }

    /**
     * The image as something to load: the bytes of the mapping, or of a new array where they are packed there.
     *
     * @throws ImageException if it does not unpack
     */
    public ModuleImage image() throws ImageException {
        return packing == Compression.NONE ? ModuleImage.of(mapped) : ModuleImage.of(bytes());
    }
}
