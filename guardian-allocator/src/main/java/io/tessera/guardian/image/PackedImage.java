package io.tessera.guardian.image;

import java.lang.foreign.MemorySegment;

/**
 * An image that a library has as a zstd frame, which it unpacks and passes to the driver itself. Most machine code for matrix products in cuBLASLt 13
 * is stored this way, in .ldata. Stateless.
 */
final class PackedImage {
    /** Modules need far less; a frame can declare anything. */
    private static final int MOST_BYTES = 256 << 20;
    /** An ELF header: the shortest thing that could be an image. */
    private static final int FEWEST_BYTES = 64;

    private PackedImage() {
    }

    /** The image whose frame begins at an offset; null where none begins, or something else is in it. */
    static FoundImage at(MemorySegment file, long at, SectionNames names) {
        ZstdFrame frame = ZstdFrame.at(file, at);
        if (frame == null || frame.unpacked() < FEWEST_BYTES || frame.unpacked() > MOST_BYTES) {
            return null;
        }
        MemorySegment packed = file.asSlice(at, frame.bytes());
        MemorySegment contents;
        try {
            contents = MemorySegment.ofArray(Compression.ZSTD.unpack(packed, (int) frame.unpacked()));
        } catch (ImageException e) {
            return null; // bytes that happen to look like a frame from outside
        }
        ImageKind kind = ImageKind.of(contents);
        boolean loadable = switch (kind) {
            case CUBIN -> ElfSections.isElf(contents) && ElfSections.machine(contents) == ElfSections.MACHINE_CUDA;
            case FAT_BINARY, PTX -> true;
            case LTO_IR, UNKNOWN -> false;
        };
        return loadable ? new FoundImage(names.at(at) + ", zstd", at, kind, packed, Compression.ZSTD, (int) frame.unpacked()) : null;
    }
}
