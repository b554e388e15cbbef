package io.tessera.guardian.image;

/** How many of the bytes that a program points at are its image. Stateless. */
public final class ImageExtent {
    private ImageExtent() {
    }

    /**
     * The bytes from the first to the image's declared end: a fat binary's header and what it declares, PTX up to its
     * final NUL, of everything else all. Nothing that is declared leads beyond the array.
     */
    public static int of(byte[] image) {
        return switch (ImageKind.of(image)) {
            case FAT_BINARY -> fatBinary(image);
            case PTX -> text(image);
            case CUBIN, LTO_IR, UNKNOWN -> image.length;
        };
    }

    private static int fatBinary(byte[] image) {
        if (image.length < FatBinary.HEADER_BYTES) {
            return image.length;
        }
        Bytes bytes = new Bytes(image);
        int header = bytes.u16(6);
        long declared = bytes.u64(8);
        return declared < 0 || declared > image.length - (long) header ? image.length : header + (int) declared;
    }

    private static int text(byte[] image) {
        int length = 0;
        while (length < image.length && image[length] != 0) {
            length++;
        }
        return length;
    }
}
