package io.tessera.guardian.image;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;

/**
 * Finds the part of a file that an offset is in: the section of an executable, library or object, or the member of an archive with its section.
 * Immutable.
 */
final class SectionNames {
    private static final String ARCHIVE_START = "!<arch>\n";
    private static final int MEMBER_HEADER_BYTES = 60;
    private static final int SIZE_AT = 48;
    private static final int SIZE_BYTES = 10;
    private static final int NAME_BYTES = 16;
    private static final String DATA = "data";

    private record Part(String name, long end) {
    }

    private final TreeMap<Long, Part> parts = new TreeMap<>();

    private SectionNames() {
    }

    /** Reads what tables the file has; a file without any has parts without names. */
    static SectionNames of(MemorySegment file) {
        SectionNames names = new SectionNames();
        if (ElfSections.isElf(file)) {
            names.addElf("", 0, file);
        } else if (file.byteSize() >= ARCHIVE_START.length()
                && text(file, 0, ARCHIVE_START.length()).equals(ARCHIVE_START)) {
            names.addArchive(file);
        }
        return names;
    }

    /** The name of the part that holds an offset. */
    String at(long offset) {
        Map.Entry<Long, Part> part = parts.floorEntry(offset);
        return part != null && offset < part.getValue().end() ? part.getValue().name() : DATA;
    }

    private void addElf(String prefix, long at, MemorySegment elf) {
        for (ElfSections.Section section : ElfSections.of(elf)) {
            parts.put(at + section.offset(),
                    new Part(prefix + section.name(), at + section.offset() + section.size()));
        }
    }

    /** Members of ar's common format; names that are kept in the archive's table of long names show their number. */
    private void addArchive(MemorySegment file) {
        long at = ARCHIVE_START.length();
        while (at + MEMBER_HEADER_BYTES <= file.byteSize()) {
            String digits = text(file, at + SIZE_AT, SIZE_BYTES).strip();
            if (!digits.matches("\\d{1,10}")) {
                return;
            }
            long start = at + MEMBER_HEADER_BYTES;
            long size = Math.min(Long.parseLong(digits), file.byteSize() - start);
            MemorySegment member = file.asSlice(start, size);
            if (ElfSections.isElf(member)) {
                addElf(text(file, at, NAME_BYTES).strip().replaceAll("/$", "") + ":", start, member);
            }
            at = start + size + size % 2;
        }
    }

    private static String text(MemorySegment file, long from, int length) {
        return new String(file.asSlice(from, length).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.ISO_8859_1);
    }
}
