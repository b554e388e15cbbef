package io.tessera.guardian.image;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** The extent of an image in the bytes that a program points at. Stateless. */
public final class ImageExtent {
    private ImageExtent() {
    }

    /**
     * Returns the size of an image from its first byte to its declared end. For a fat binary, this is its header and the size declared there; for
     * PTX, the text up to its final NUL; for any other image, all bytes. A declared size never leads beyond the memory.
     */
    public static long of(MemorySegment image) {
        return switch (ImageKind.of(image)) {
            case FAT_BINARY -> fatBinary(image);
            case PTX -> text(image);
            case CUBIN, LTO_IR, UNKNOWN -> image.byteSize();
        };
    }

    private static long fatBinary(MemorySegment image) {
        Bytes bytes = new Bytes(image);
        if (bytes.size() < FatBinaryEntry.FILE_HEADER_BYTES) {
            return bytes.size();
        }
        int header = bytes.u16(6);
        long declared = bytes.u64(8);
        return declared < 0 || declared > bytes.size() - header ? bytes.size() : header + declared;
    }

    private static long text(MemorySegment image) {
        long length = 0;
        while (length < image.byteSize() && image.get(ValueLayout.JAVA_BYTE, length) != 0) {
            length++;
        }
        return length;
    }
}
