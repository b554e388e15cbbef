package io.tessera.guardian.image;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * The section table of a 64-bit little-endian ELF file in memory (System V ABI, gABI 4.1, chapter 4). Every number is checked against the file before
 * it is used; a table that does not fit is ignored. Immutable as long as nobody writes to the file.
 */
final class ElfSections {
    /** Machine number of NVIDIA's cubins. */
    static final int MACHINE_CUDA = 190;
    private static final int HEADER_BYTES = 64;
    private static final int SECTION_BYTES = 64;
    private static final int CLASS_64 = 2;
    private static final int LITTLE_ENDIAN = 1;
    /** A section that takes no room in the file. */
    private static final int NO_BITS = 8;
    private static final int MOST_NAME_BYTES = 256;
    private static final ValueLayout.OfShort U16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt U32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong U64 = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /**
     * One section.
     *
     * @param name    its name
     * @param type    the ABI's number for its contents
     * @param address its address in memory when the file is loaded
     * @param offset  from the file's start; all its bytes lie in the file
     * @param size    in bytes
     */
    record Section(String name, int type, long address, long offset, long size) {
    }

    private ElfSections() {
    }

    /** Returns whether the file begins with the header of a 64-bit little-endian ELF file. */
    static boolean isElf(MemorySegment file) {
        return file.byteSize() >= HEADER_BYTES && file.get(U32, 0) == ImageKind.ELF_MAGIC
                && file.get(ValueLayout.JAVA_BYTE, 4) == CLASS_64
                && file.get(ValueLayout.JAVA_BYTE, 5) == LITTLE_ENDIAN;
    }

    /** Its machine number. */
    static int machine(MemorySegment elf) {
        return elf.get(U16, 18) & 0xFFFF;
    }

    /**
     * Returns the size of an ELF file that lies in other bytes: the end of its tables and sections, whichever is last. At most the size of the given
     * bytes.
     */
    static long extent(MemorySegment elf) {
        long end = HEADER_BYTES;
        long table = elf.get(U64, 40);
        end = Math.max(end, boundedEnd(table, SECTION_BYTES * count(elf), elf.byteSize()));
        end = Math.max(end, boundedEnd(elf.get(U64, 32), (elf.get(U16, 54) & 0xFFFFL) * (elf.get(U16, 56) & 0xFFFF),
                elf.byteSize()));
        for (Section section : of(elf)) {
            end = Math.max(end, section.offset() + section.size());
        }
        return end;
    }

    private static long boundedEnd(long from, long size, long limit) {
        return from < 0 || size > limit - from ? 0 : from + size;
    }

    private static long count(MemorySegment elf) {
        return elf.get(U16, 60) & 0xFFFF;
    }

    /** Returns the sections that have bytes in the file; empty if there is no table or it is damaged. */
    static List<Section> of(MemorySegment elf) {
        List<Section> sections = new ArrayList<>();
        long table = elf.get(U64, 40);
        long count = count(elf);
        int entry = elf.get(U16, 58) & 0xFFFF;
        if (table <= 0 || entry != SECTION_BYTES || table > elf.byteSize()
                || count * SECTION_BYTES > elf.byteSize() - table) {
            return sections;
        }
        int nameIndex = elf.get(U16, 62) & 0xFFFF;
        MemorySegment names = nameIndex < count ? contents(elf, table + nameIndex * (long) SECTION_BYTES)
                : MemorySegment.NULL;
        for (long i = 0; i < count; i++) {
            long at = table + i * SECTION_BYTES;
            int type = elf.get(U32, at + 4);
            long offset = elf.get(U64, at + 24);
            long size = elf.get(U64, at + 32);
            if (type != NO_BITS && size > 0 && offset >= 0 && offset <= elf.byteSize()
                    && size <= elf.byteSize() - offset) {
                sections.add(new Section(name(names, elf.get(U32, at) & 0xFFFFFFFFL), type, elf.get(U64, at + 16),
                        offset, size));
            }
        }
        return sections;
    }

    private static MemorySegment contents(MemorySegment elf, long at) {
        long offset = elf.get(U64, at + 24);
        long size = elf.get(U64, at + 32);
        return offset < 0 || size < 0 || offset > elf.byteSize() || size > elf.byteSize() - offset ? MemorySegment.NULL
                : elf.asSlice(offset, size);
    }

    private static String name(MemorySegment names, long from) {
        StringBuilder name = new StringBuilder();
        for (long at = from; at < names.byteSize() && name.length() < MOST_NAME_BYTES; at++) {
            char c = (char) (names.get(ValueLayout.JAVA_BYTE, at) & 0xFF);
            if (c == 0) {
                break;
            }
            name.append(c);
        }
        return name.toString();
    }
}
