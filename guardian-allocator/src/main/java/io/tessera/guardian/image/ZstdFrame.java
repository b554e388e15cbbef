package io.tessera.guardian.image;

import java.lang.foreign.MemorySegment;

/**
 * The outside of a zstd frame (RFC 8878, section 3.1.1): how many bytes it takes, and how many it unpacks to. The blocks'
 * contents are not looked at. Immutable.
 *
 * @param bytes    of the frame, from its magic number to its checksum
 * @param unpacked bytes, as the frame's header declares them
 */
record ZstdFrame(long bytes, long unpacked) {
    /** First word of a frame. */
    static final int MAGIC = 0xFD2FB528;
    private static final int DESCRIPTOR_AT = 4;
    private static final int SINGLE_SEGMENT = 0x20;
    private static final int RESERVED = 0x08;
    private static final int CHECKSUM = 0x04;
    private static final int DICTIONARY = 0x03;
    private static final int CHECKSUM_BYTES = 4;
    private static final int BLOCK_HEADER_BYTES = 3;
    private static final int RAW = 0;
    private static final int RUN = 1;
    private static final int COMPRESSED = 2;
    /** Block_Maximum_Size is never larger. */
    private static final int LARGEST_BLOCK = 128 << 10;
    /** Offset of a content size that is stored in two bytes. */
    private static final int TWO_BYTES_FROM = 256;

    /** The frame that begins at an offset; null where none does, or one that needs a dictionary or does not declare its size. */
    static ZstdFrame at(MemorySegment memory, long start) {
        Bytes bytes = new Bytes(memory);
        if (bytes.size() - start <= DESCRIPTOR_AT || bytes.u32(start) != MAGIC) {
            return null;
        }
        int descriptor = bytes.u8(start + DESCRIPTOR_AT) & 0xFF;
        boolean single = (descriptor & SINGLE_SEGMENT) != 0;
        int sizeFlag = descriptor >>> 6;
        int sizeBytes = sizeFlag == 0 ? (single ? 1 : 0) : 1 << sizeFlag;
        long sizeAt = start + DESCRIPTOR_AT + 1 + (single ? 0 : 1);
        if ((descriptor & (RESERVED | DICTIONARY)) != 0 || sizeBytes == 0 || sizeAt + sizeBytes > bytes.size()) {
            return null;
        }
        long unpacked = switch (sizeBytes) {
            case 1 -> bytes.u8(sizeAt) & 0xFF;
            case 2 -> bytes.u16(sizeAt) + TWO_BYTES_FROM;
            case 4 -> bytes.u32(sizeAt) & 0xFFFFFFFFL;
            default -> bytes.u64(sizeAt);
        };
        long end = afterBlocks(bytes, sizeAt + sizeBytes) + ((descriptor & CHECKSUM) != 0 ? CHECKSUM_BYTES : 0);
        return end < start || end > bytes.size() || unpacked < 0 ? null : new ZstdFrame(end - start, unpacked);
    }

    /** Returns the end of the last block; negative if the blocks are not consistent. */
    private static long afterBlocks(Bytes bytes, long first) {
        long at = first;
        while (bytes.size() - at >= BLOCK_HEADER_BYTES) {
            int header = bytes.u16(at) | (bytes.u8(at + 2) & 0xFF) << 16;
            int size = header >>> 3;
            int type = header >>> 1 & 3;
            if (size > LARGEST_BLOCK || type != RAW && type != RUN && type != COMPRESSED) {
                return Long.MIN_VALUE;
            }
            at += BLOCK_HEADER_BYTES + (type == RUN ? 1 : size);
            if ((header & 1) != 0) {
                return at;
            }
        }
        return Long.MIN_VALUE;
    }
}
