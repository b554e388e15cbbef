package io.tessera.guardian.image;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** How many of the bytes that a program points at are its image. Stateless. */
public final class ImageExtent {
    private ImageExtent() {
    }

    /**
     * The bytes from the first to the image's declared end: a fat binary's header and what it declares, PTX up to its
     * final NUL, of everything else all. Nothing that is declared leads beyond the memory.
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
