package io.tessera.guardian.machine.verify;

import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.container.Cubin;
import io.tessera.guardian.machine.container.CubinSection;
import io.tessera.guardian.machine.container.CubinSymbols;
import io.tessera.guardian.machine.container.Relocations;
import java.util.Comparator;
import java.util.List;

/**
 * Verifies that a cubin can be read in one way only: a driver that reads segments finds the same code as the verifier, which reads sections, and every
 * section that is named after a function belongs to that function. Stateless.
 */
final class FileLayout {
    /** The last accepted ELF section type, SHT_DYNSYM; the first one is SHT_NULL. */
    private static final int LAST_TYPE = 11;
    private static final int FIRST_CUDA_TYPE = 0x70000000;
    private static final int LAST_CUDA_TYPE = 0x700000ff;
    private static final String CONSTANTS = ".nv.constant";

    private FileLayout() {
    }

    /**
     * Looks at a cubin.
     *
     * @throws MachineCodeException if it can be read in another way
     */
    static void require(Cubin cubin, CubinSymbols symbols) throws MachineCodeException {
        for (CubinSection section : cubin.sections()) {
            requireKnown(section);
            requireOwn(cubin, section, CubinSection.ATTRIBUTES + ".");
            requireOwn(cubin, section, CubinSection.TABLES);
            requireTarget(cubin, section);
        }
        requireApart(cubin.sections());
        requireSegments(cubin);
        for (CubinSymbols.Symbol symbol : symbols.all()) {
            requireOwn(cubin, symbol);
        }
    }

    private static void requireKnown(CubinSection section) throws MachineCodeException {
        int type = section.type();
        boolean known = type >= 0 && type <= LAST_TYPE || type >= FIRST_CUDA_TYPE && type <= LAST_CUDA_TYPE;
        if (!known) {
            throw new MachineCodeException("section " + section.name() + " is of a type that is not known (0x" + Integer.toHexString(type) + ")");
        }
        boolean loaded = isLoaded(section);
        if (loaded && (section.address() != 0 || section.isWritable())) {
            throw new MachineCodeException("section " + section.name() + " has an address of its own, or can be written");
        }
        if (section.name().startsWith(CONSTANTS) && section.type() != CubinSection.CONTENTS) {
            throw new MachineCodeException("section " + section.name() + " holds constants and has no contents");
        }
    }

    /** Returns whether a section holds code, or constants through which code may branch. */
    private static boolean isLoaded(CubinSection section) {
        return section.isCode() || section.name().startsWith(CONSTANTS);
    }

    /** Checks that a section named after a function also names that function by its number. */
    private static void requireOwn(Cubin cubin, CubinSection section, String prefix) throws MachineCodeException {
        if (section.name().startsWith(prefix)) {
            CubinSection code = cubin.section(CubinSection.CODE + section.functionName(prefix));
            CubinSection other = cubin.section(section.info());
            if (code != null ? other != code : other != null && other.isCode()) {
                throw new MachineCodeException("section " + section.name() + " is another function's");
            }
        }
    }

    /** Checks that relocations write to the section after which their table is named, and not into branch tables. */
    private static void requireTarget(Cubin cubin, CubinSection table) throws MachineCodeException {
        if (!Relocations.isTable(table)) {
            return;
        }
        CubinSection target = cubin.section(table.info());
        boolean addends = table.type() == CubinSection.RELOCATIONS;
        if (target == null || !table.name().equals((addends ? ".rela" : ".rel") + target.name())) {
            throw new MachineCodeException("section " + table.name() + " has relocations of another section");
        }
        if (table.data().length > 0 && target.name().startsWith(CubinSection.TABLES)) {
            throw new MachineCodeException("section " + table.name() + " changes branch tables");
        }
    }

    /** Checks that a kernel's symbol names the section of that name, and that a function does not extend beyond its section. */
    private static void requireOwn(Cubin cubin, CubinSymbols.Symbol symbol) throws MachineCodeException {
        CubinSection section = cubin.section(symbol.section());
        if (symbol.type() != CubinSymbols.FUNCTION || section == null || !section.isCode()) {
            return;
        }
        if (symbol.entry() && !section.functionName(CubinSection.CODE).equals(symbol.name())) {
            throw new MachineCodeException("kernel " + symbol.name() + " is in section " + section.name());
        }
        if (symbol.value() < 0 || symbol.size() < 0 || symbol.value() > section.data().length - symbol.size()) {
            throw new MachineCodeException("function " + symbol.name() + " ends behind its section");
        }
    }

    /** Checks that no byte of code or of constants also belongs to another section. */
    private static void requireApart(List<CubinSection> sections) throws MachineCodeException {
        List<CubinSection> order = sections.stream().filter(section -> section.bytesInFile() > 0)
                .sorted(Comparator.comparingLong(CubinSection::offset))
                .toList();
        CubinSection last = null;
        CubinSection lastLoaded = null;
        for (CubinSection section : order) {
            CubinSection before = isLoaded(section) ? last : lastLoaded;
            if (before != null && end(before) > section.offset()) {
                throw new MachineCodeException("sections " + before.name() + " and " + section.name() + " overlap");
            }
            last = last == null || end(section) > end(last) ? section : last;
            lastLoaded = isLoaded(section) && (lastLoaded == null || end(section) > end(lastLoaded)) ? section : lastLoaded;
        }
    }

    private static long end(CubinSection section) {
        return section.offset() + section.bytesInFile();
    }

    /**
     * Checks that each section of code or constants lies completely in one loaded segment, and that no segment asks for an address. Files without
     * segments, such as those of cuBLAS, are loaded by their sections.
     */
    private static void requireSegments(Cubin cubin) throws MachineCodeException {
        if (cubin.segments().isEmpty()) {
            return;
        }
        List<Cubin.Segment> loaded = cubin.segments().stream().filter(segment -> segment.type() == Cubin.Segment.LOAD && segment.fileBytes() != 0)
                .sorted(Comparator.comparingLong(Cubin.Segment::offset)).toList();
        long end = 0;
        for (Cubin.Segment segment : loaded) {
            if (segment.address() != 0 || segment.fileBytes() < 0 || segment.bytes() < segment.fileBytes() || segment.offset() < end) {
                throw new MachineCodeException("segments that overlap, or ask for an address");
            }
            end = segment.offset() + segment.fileBytes();
            if (end < segment.offset()) {
                throw new MachineCodeException("a segment that ends before it begins");
            }
        }
        List<CubinSection> sections = cubin.sections().stream().filter(section -> isLoaded(section) && section.bytesInFile() > 0)
                .sorted(Comparator.comparingLong(CubinSection::offset)).toList();
        int next = 0;
        for (CubinSection section : sections) {
            while (next < loaded.size() && loaded.get(next).offset() + loaded.get(next).fileBytes() <= section.offset()) {
                next++;
            }
            Cubin.Segment segment = next < loaded.size() ? loaded.get(next) : null;
            boolean outside = segment == null || segment.offset() >= end(section);
            boolean inside = !outside && segment.offset() <= section.offset() && segment.offset() + segment.fileBytes() >= end(section);
            if (!inside && !(outside && !section.isCode())) {
                throw new MachineCodeException("section " + section.name() + " is not in one segment that is loaded");
            }
        }
    }
}
