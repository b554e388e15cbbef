package io.tessera.guardian.image;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Finds the images in a file's bytes. It finds a fat binary, cubin or PTX file on its own, and the fat binaries of executables, shared libraries,
 * objects and archives, in any section. It also finds cubins and PTX that a program has as data and passes to the driver itself, compressed or not.
 * The section table only provides names: all bytes are searched, so a stripped file hides nothing. The contents of a fat binary are not reported
 * separately. Stateless.
 *
 * <p>The search looks at every second byte: archives align members to two bytes, and all other containers to more. Bytes count as a fat binary if the
 * header and the headers of all entries are consistent ({@link FatBinary#parse}).
 */
public final class ImageScanner {
    private static final ValueLayout.OfInt U32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfShort U16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong U64 = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int STEP = 2;
    private static final int FIRST_ENTRY = FatBinaryEntry.FILE_HEADER_BYTES;
    /** ".ver" of PTX's first directive as a little-endian number. */
    private static final int DOT_VER = 0x7265762E;
    private static final String WHOLE_FILE = "file";

    private ImageScanner() {
    }

    /**
     * The images in a file, in its order.
     *
     * @param file all its bytes, mapped; the images refer to it
     */
    public static List<FoundImage> scan(MemorySegment file) {
        FoundImage whole = whole(file);
        if (whole != null) {
            return List.of(whole);
        }
        List<FoundImage> found = new ArrayList<>();
        SectionNames names = SectionNames.of(file);
        long last = file.byteSize() - Integer.BYTES;
        long at = 0;
        while (at <= last) {
            FoundImage image = switch (file.get(U32, at)) {
                case ImageKind.FAT_BINARY_MAGIC -> fatBinary(file, at, names);
                case ImageKind.ELF_MAGIC -> cubin(file, at, names);
                case ZstdFrame.MAGIC -> PackedImage.at(file, at, names);
                // The text may begin at an odd address, so both are asked.
                case DOT_VER -> EmbeddedPtx.at(file, at, names);
                default -> (file.get(ValueLayout.JAVA_BYTE, at + 1) == '.' && at < last
                        && file.get(U32, at + 1) == DOT_VER) ? EmbeddedPtx.at(file, at + 1, names) : null;
            };
            if (image == null) {
                at += STEP;
            } else {
                found.add(image);
                at = (image.offset() + image.sizeBytes() + STEP - 1) / STEP * STEP;
            }
        }
        found.sort(Comparator.comparingLong(FoundImage::offset));
        return found;
    }

    /** The file as one image; null where it is something that may hold images. */
    private static FoundImage whole(MemorySegment file) {
        ImageKind kind = ImageKind.of(file.asSlice(0, Math.min(file.byteSize(), 1 << 16)));
        boolean one = switch (kind) {
            case FAT_BINARY, PTX, LTO_IR -> true;
            case CUBIN -> ElfSections.isElf(file) && ElfSections.machine(file) == ElfSections.MACHINE_CUDA;
            case UNKNOWN -> false;
        };
        return one ? new FoundImage(WHOLE_FILE, 0, kind, file) : null;
    }

    private static FoundImage fatBinary(MemorySegment file, long at, SectionNames names) {
        long room = file.byteSize() - at;
        if (room < FIRST_ENTRY || file.get(U16, at + 4) != 1) {
            return null;
        }
        int header = file.get(U16, at + 6) & 0xFFFF;
        long size = file.get(U64, at + 8);
        if (header < FIRST_ENTRY || size <= 0 || size > room - header || header + size > Integer.MAX_VALUE - 8) {
            return null;
        }
        FoundImage image = new FoundImage(names.at(at), at, ImageKind.FAT_BINARY, file.asSlice(at, header + size));
        try {
            return FatBinary.parse(image.mapped()).entries().isEmpty() ? null : image;
        } catch (ImageException e) {
            return null; // bytes that happen to begin like one
        }
    }

    private static FoundImage cubin(MemorySegment file, long at, SectionNames names) {
        MemorySegment rest = file.asSlice(at);
        if (!ElfSections.isElf(rest) || ElfSections.machine(rest) != ElfSections.MACHINE_CUDA) {
            return null;
        }
        return new FoundImage(names.at(at), at, ImageKind.CUBIN, rest.asSlice(0, ElfSections.extent(rest)));
    }
}
