package io.tessera.guardian.image;

import java.lang.foreign.MemorySegment;

/** Kind of a module image, as determined from its first bytes. */
public enum ImageKind {
    /** NVIDIA's container of several images, without the wrapper that stays in the client. */
    FAT_BINARY,
    /** Machine code: an ELF file. */
    CUBIN,
    /** PTX text. */
    PTX,
    /** Intermediate code for link-time optimisation. */
    LTO_IR,
    /** None of these. */
    UNKNOWN;

    /** First word of a fat binary; read as little-endian, as all numbers here. */
    static final int FAT_BINARY_MAGIC = 0xBA55ED50;
    /** First word of an ELF file. */
    static final int ELF_MAGIC = 0x464C457F;
    /** First word of LTO-IR as nvcc 13.0 writes it; seen, not documented. */
    static final int LTO_IR_MAGIC = 0x7F4E43ED;

    /** The kind of an image; its contents are not checked further. */
    public static ImageKind of(MemorySegment image) {
        Bytes bytes = new Bytes(image);
        if (bytes.size() >= Integer.BYTES) {
            switch (bytes.u32(0)) {
                case FAT_BINARY_MAGIC :
                    return FAT_BINARY;
                case ELF_MAGIC :
                    return CUBIN;
                case LTO_IR_MAGIC :
                    return LTO_IR;
                default :
                    break;
            }
        }
        return startsWithVersion(bytes) ? PTX : UNKNOWN;
    }

    /** Returns whether {@code .version} is the first token after blanks and comments. */
    private static boolean startsWithVersion(Bytes text) {
        byte[] version = {'.', 'v', 'e', 'r', 's', 'i', 'o', 'n'};
        long at = 0;
        while (at < text.size()) {
            byte c = text.u8(at);
            byte next = at + 1 < text.size() ? text.u8(at + 1) : 0;
            if (c == ' ' || c >= '\t' && c <= '\r') {
                at++;
            } else if (c == '/' && next == '/') {
                at = after(text, at, (byte) '\n', (byte) '\n');
            } else if (c == '/' && next == '*') {
                at = after(text, at + 3, (byte) '*', (byte) '/');
            } else {
                break;
            }
        }
        for (int i = 0; i < version.length; i++) {
            if (at + i >= text.size() || text.u8(at + i) != version[i]) {
                return false;
            }
        }
        return true;
    }

    /** Position after the next byte {@code last} that follows {@code before}; for a line end both are the same. */
    private static long after(Bytes text, long from, byte before, byte last) {
        long at = from;
        while (at < text.size() && !(text.u8(at) == last && (before == last || text.u8(at - 1) == before))) {
            at++;
        }
        return at + 1;
    }
}
