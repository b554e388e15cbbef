package io.tessera.guardian.machine.container;

import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.code.Architecture;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * A cubin: an ELF file of 64 bits for machine number 190, in one of two variants. Compilers before CUDA 13 write OS ABI 51 with the
 * architecture in bits 0 to 7 of the flags, CUDA 13 writes OS ABI 65 with it in bits 8 to 15. Sections can get other contents; {@link
 * #bytes} then lays the file out again in the order that it had, so that a cubin without changes comes out as it was. One owner thread.
 */
public final class Cubin {
    private static final int MACHINE_CUDA = 190;
    private static final int HEADER = 64;
    private static final int SECTION_HEADER = 64;
    private static final int PROGRAM_HEADER = 56;
    private static final int OS_ABI = 7;
    private static final int ABI_OF_CUDA_13 = 65;
    private static final int ABI_BEFORE = 51;
    private static final int MOST_SECTIONS = 1 << 20;
    private static final int PROGRAM_HEADERS = 6;
    /** Far above what compilers use: code has 128, shared memory 1024. */
    private static final long MOST_ALIGNMENT = 1 << 16;
    /** Sections may share bytes, as those of Mercury code do, but not so that a small file becomes a large one. */
    private static final long MOST_OVERLAP = 2;

    private final ByteBuffer file;
    private final List<CubinSection> sections = new ArrayList<>();
    private final Map<String, CubinSection> byName = new HashMap<>();

    private Cubin(ByteBuffer file) {
        this.file = file;
    }

    /**
     * Reads a cubin.
     *
     * @param bytes all of it; not copied and not changed
     * @throws MachineCodeException if it is none, or if an offset or a size leaves the bytes
     */
    public static Cubin read(byte[] bytes) throws MachineCodeException {
        Cubin cubin = new Cubin(ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN));
        try {
            cubin.readHeader();
            cubin.readSections();
        } catch (IndexOutOfBoundsException | IllegalArgumentException e) {
            throw new MachineCodeException("the cubin is damaged: a header leaves its " + bytes.length + " bytes");
        }
        return cubin;
    }

    private void readHeader() throws MachineCodeException {
        if (file.capacity() < HEADER || file.getInt(0) != 0x464c457f || file.get(4) != 2 || file.get(5) != 1
                || file.getShort(0x12) != MACHINE_CUDA) {
            throw new MachineCodeException("not a cubin: no ELF file of 64 bits for machine " + MACHINE_CUDA);
        }
        int abi = file.get(OS_ABI) & 0xff;
        if (abi != ABI_OF_CUDA_13 && abi != ABI_BEFORE) {
            throw new MachineCodeException("a cubin of a form that is not known (OS ABI " + abi + ")");
        }
        if ((file.getShort(0x3a) & 0xffff) != SECTION_HEADER || (file.getShort(0x34) & 0xffff) != HEADER
                || programHeaders() > 0 && (file.getShort(0x36) & 0xffff) != PROGRAM_HEADER) {
            throw new MachineCodeException("a cubin with headers of unknown sizes");
        }
        if (programHeaders() > 0) {
            Objects.checkFromIndexSize(file.getLong(0x20), (long) programHeaders() * PROGRAM_HEADER, file.capacity());
        }
    }

    private void readSections() throws MachineCodeException {
        long at = file.getLong(0x28);
        int count = file.getShort(0x3c) & 0xffff;
        int names = file.getShort(0x3e) & 0xffff;
        long room = file.capacity() - at;
        if (at < HEADER || room < SECTION_HEADER) {
            throw new MachineCodeException("a cubin without sections");
        }
        if (count == 0) {
            count = (int) Math.min(file.getLong((int) at + 0x20), MOST_SECTIONS + 1);
        }
        if (names == 0xffff) {
            names = file.getInt((int) at + 0x28);
        }
        if (count < 1 || count > MOST_SECTIONS || count > room / SECTION_HEADER || names < 0 || names >= count) {
            throw new MachineCodeException("a cubin of " + count + " sections");
        }
        List<CubinSection.Header> headers = new ArrayList<>();
        long bytes = 0;
        for (int i = 0; i < count; i++) {
            CubinSection.Header header = header((int) at + i * SECTION_HEADER);
            headers.add(header);
            bytes += size(header);
            if (bytes > MOST_OVERLAP * file.capacity()) {
                throw new MachineCodeException("a cubin whose sections overlap");
            }
        }
        StringTable strings = new StringTable(contents(headers.get(names)));
        for (int i = 0; i < count; i++) {
            CubinSection section = new CubinSection(i, strings.at(headers.get(i).nameOffset()), headers.get(i), contents(headers.get(i)));
            sections.add(section);
            if (i > 0 && byName.put(section.name(), section) != null && section.isFoundByName()) {
                throw new MachineCodeException("two sections are named " + section.name());
            }
        }
    }

    private CubinSection.Header header(int at) {
        return new CubinSection.Header(file.getInt(at), file.getInt(at + 4), file.getLong(at + 8), file.getLong(at + 16), file.getLong(at + 24),
                file.getLong(at + 32), file.getInt(at + 40), file.getInt(at + 44), file.getLong(at + 48), file.getLong(at + 56));
    }

    /** The bytes that a section has in the file. */
    private long size(CubinSection.Header header) throws MachineCodeException {
        if (header.type() == 0) {
            return 0;
        }
        long size = CubinSection.takesRoom(header.type()) ? header.size() : 0;
        if (header.offset() < 0 || size < 0 || header.offset() > file.capacity() - size) {
            throw new MachineCodeException("a section of " + size + " bytes leaves the cubin");
        }
        if (header.alignment() < 0 || header.alignment() > MOST_ALIGNMENT) {
            throw new MachineCodeException("a section at multiples of " + header.alignment() + " bytes");
        }
        return size;
    }

    private byte[] contents(CubinSection.Header header) throws MachineCodeException {
        byte[] data = new byte[(int) size(header)];
        file.get((int) header.offset(), data);
        return data;
    }

    /** All sections, by their numbers. */
    public List<CubinSection> sections() {
        return Collections.unmodifiableList(sections);
    }

    /** The section of a number; null if there is none. */
    public CubinSection section(int index) {
        return index > 0 && index < sections.size() ? sections.get(index) : null;
    }

    /** The section of a name; null if there is none. */
    public CubinSection section(String name) {
        return byName.get(name);
    }

    /** Those with code, in the order of the file. */
    public List<CubinSection> code() {
        return sections.stream().filter(CubinSection::isCode).toList();
    }

    /** The architecture that it was made for: 90 for {@code sm_90} and {@code sm_90a}. */
    public int architecture() {
        int flags = file.getInt(0x30);
        return isOfCuda13() ? flags >> 8 & 0xff : flags & 0xff;
    }

    /** Returns whether it is in the variant of CUDA 13; in earlier variants, code sections also have their number of registers in their header. */
    public boolean isOfCuda13() {
        return (file.get(OS_ABI) & 0xff) == ABI_OF_CUDA_13;
    }

    /** Returns whether it still has to be linked. */
    public boolean isRelocatable() {
        return file.getShort(0x10) == 1;
    }

    /**
     * The architecture whose instructions it has. From sm_100 on they are not known: numbers of uniform registers have two bits more, and a cubin holds its code a second time, in
     * another form.
     *
     * @throws MachineCodeException if it is not known, or if the cubin is not linked
     */
    public Architecture requireKnownInstructions() throws MachineCodeException {
        if (isRelocatable()) {
            throw new MachineCodeException("the cubin is not linked yet");
        }
        Architecture known = Architecture.of(architecture());
        if (known == null) {
            throw new MachineCodeException(
                    "machine code for sm_" + architecture() + "; instructions are known for " + Architecture.names() + " only");
        }
        return known;
    }

    private int programHeaders() {
        return file.getShort(0x38) & 0xffff;
    }

    /**
     * A segment, as a program header describes it.
     *
     * @param type      {@code p_type}
     * @param offset    its offset in the file
     * @param address   its requested address
     * @param fileBytes bytes in the file
     * @param bytes     bytes in memory
     */
    public record Segment(int type, long offset, long address, long fileBytes, long bytes) {
        /** {@code PT_LOAD}. */
        public static final int LOAD = 1;
    }

    /** The segments of the file that was read. */
    public List<Segment> segments() {
        List<Segment> all = new ArrayList<>();
        for (int i = 0; i < programHeaders(); i++) {
            int at = (int) file.getLong(0x20) + i * PROGRAM_HEADER;
            all.add(new Segment(file.getInt(at), file.getLong(at + 8), file.getLong(at + 16), file.getLong(at + 32), file.getLong(at + 40)));
        }
        return all;
    }

    /** The file with the contents that its sections have now. */
    public byte[] bytes() {
        return new Layout().write();
    }

    /** Returns the start of each section in {@link #bytes}, by its number. */
    public long[] offsets() {
        Layout layout = new Layout();
        layout.place();
        return layout.offsets;
    }

    /** Positions of all parts in the new file. */
    private final class Layout {
        private final long[] offsets = new long[sections.size()];
        private final List<CubinSection> order = sections.stream().filter(section -> section.type != 0)
                .sorted(Comparator.comparingLong((CubinSection section) -> section.offset).thenComparingInt(CubinSection::index)).toList();
        /** Bytes between sections, which are copied: old offset, new offset, length. */
        private final List<long[]> gaps = new ArrayList<>();
        private long sectionHeadersAt;
        private long programHeadersAt;

        /** Sections come in their order of before. Returns the end of the last one. */
        private long place() {
            long end = HEADER;
            long endBefore = HEADER;
            for (CubinSection section : order) {
                long gap = Math.max(0, section.offset - endBefore);
                gaps.add(new long[] {endBefore, end, gap});
                end += gap;
                if (section.takesRoom()) {
                    long alignment = Math.max(1, section.alignment);
                    end = (end + alignment - 1) / alignment * alignment;
                }
                offsets[section.index()] = end;
                end += section.takesRoom() ? section.data().length : 0;
                endBefore = Math.max(endBefore, section.offset + (section.takesRoom() ? section.size : 0));
            }
            return end;
        }

        byte[] write() {
            long end = place();
            sectionHeadersAt = (end + 7) & ~7L;
            programHeadersAt = sectionHeadersAt + (long) sections.size() * SECTION_HEADER;
            ByteBuffer out = ByteBuffer.allocate((int) (programHeadersAt + (long) programHeaders() * PROGRAM_HEADER)).order(ByteOrder.LITTLE_ENDIAN);
            out.put(0, file, 0, HEADER);
            for (long[] gap : gaps) {
                out.put((int) gap[1], file, (int) gap[0], (int) gap[2]);
            }
            out.putLong(0x28, sectionHeadersAt).putLong(0x20, programHeaders() == 0 ? file.getLong(0x20) : programHeadersAt);
            for (CubinSection section : sections) {
                if (section.takesRoom()) {
                    out.put((int) offsets[section.index()], section.data());
                }
                header(out, section);
            }
            for (int i = 0; i < programHeaders(); i++) {
                programHeader(out, (int) file.getLong(0x20) + i * PROGRAM_HEADER, (int) programHeadersAt + i * PROGRAM_HEADER);
            }
            return out.array();
        }

        private void header(ByteBuffer out, CubinSection section) {
            int at = (int) sectionHeadersAt + section.index() * SECTION_HEADER;
            out.putInt(at, section.nameOffset).putInt(at + 4, section.type).putLong(at + 8, section.flags).putLong(at + 16, section.address);
            out.putLong(at + 24, section.type == 0 ? section.offset : offsets[section.index()]);
            out.putLong(at + 32, section.takesRoom() ? section.data().length : section.size);
            out.putInt(at + 40, section.link).putInt(at + 44, section.info).putLong(at + 48, section.alignment).putLong(at + 56, section.entrySize);
        }

        /** Copies a program header, with the new position of its sections or of the headers themselves. */
        private void programHeader(ByteBuffer out, int from, int to) {
            out.put(to, file, from, PROGRAM_HEADER);
            long offset = file.getLong(from + 8);
            long fileSize = file.getLong(from + 32);
            if (file.getInt(from) == PROGRAM_HEADERS || offset == file.getLong(0x20) && fileSize > 0) {
                long bytes = (long) programHeaders() * PROGRAM_HEADER;
                out.putLong(to + 8, programHeadersAt).putLong(to + 32, bytes).putLong(to + 40, bytes);
                return;
            }
            long first = Long.MAX_VALUE;
            long end = 0;
            long endBefore = 0;
            for (CubinSection section : order) {
                if (section.takesRoom() && section.size > 0 && section.offset >= offset && section.offset + section.size <= offset + fileSize) {
                    first = Math.min(first, offsets[section.index()]);
                    end = Math.max(end, offsets[section.index()] + section.data().length);
                    endBefore = Math.max(endBefore, section.offset + section.size);
                }
            }
            end += end == 0 ? 0 : offset + fileSize - endBefore; // padding behind the last one
            if (fileSize > 0 && end > 0) {
                out.putLong(to + 8, first).putLong(to + 32, end - first).putLong(to + 40, file.getLong(from + 40) - fileSize + end - first);
            } else {
                order.stream().filter(section -> section.offset == offset).findFirst()
                        .ifPresent(section -> out.putLong(to + 8, offsets[section.index()]));
            }
        }
    }
}
