package io.tessera.guardian.machine.verify;

import io.tessera.guardian.fence.HoistedVariable;
import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.PrintableText;
import io.tessera.guardian.machine.code.Architecture;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.Kind;
import io.tessera.guardian.machine.code.SectionFlow;
import io.tessera.guardian.machine.container.Cubin;
import io.tessera.guardian.machine.container.CubinSection;
import io.tessera.guardian.machine.container.CubinSymbols;
import io.tessera.guardian.machine.container.Relocations;
import io.tessera.guardian.machine.look.Looks;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;

/** Relocations that a loader applies to a cubin; in code, only constants of 32 bits and the targets of calls are permitted. Immutable. */
final class LoaderWrites {
    /** The lower and the upper half of an address, into bits 32 to 63 of an instruction, {@code R_CUDA_ABS32_LO_32} and {@code R_CUDA_ABS32_HI_32}. */
    private static final int LOW_HALF = 56;
    private static final int HIGH_HALF = 57;
    /** The target of a call, from sm_90 on; then the absolute target of a call, before sm_90. */
    private static final int CALL = 75;
    private static final int ABSOLUTE_CALL = 58;
    /** Bits of a call's target in the second word. */
    private static final long UPPER_TARGET = 0x3ffff;

    private static final int NO_SYMBOL = -1;
    private static final int LONGEST_NAME = 400;
    /** Constant banks that hold no branch tables. */
    private static final Set<String> WRITTEN_BANKS = Set.of(".nv.constant3", ".nv.constant4");

    private final Cubin cubin;
    private final CubinSymbols symbols;
    private final Map<Integer, List<Relocations.Relocation>> bySection;
    /** Symbols whose addresses are written into loaded sections. */
    private final Set<Integer> named = new HashSet<>();
    /** By section, if an address after its start is written somewhere: the sections that receive such an address. */
    private final Map<Integer, Set<Integer>> inner = new HashMap<>();

    /** As above, with addresses of variables that are written before loading. */
    LoaderWrites(Cubin cubin, CubinSymbols symbols, List<HoistedVariable.Relocation> places) throws MachineCodeException {
        this.cubin = cubin;
        this.symbols = symbols;
        this.bySection = Relocations.bySection(cubin);
        NavigableMap<Long, CubinSection> byOffset = new TreeMap<>();
        cubin.sections().stream().filter(section -> section.bytesInFile() > 0).forEach(section -> byOffset.put(section.offset(), section));
        for (HoistedVariable.Relocation place : places) {
            add(place, byOffset.floorEntry(place.offsetBytes()));
        }
        bySection.forEach((number, all) -> {
            CubinSection target = cubin.section(number);
            if (target == null || target.isLoaded() || target.isCode()) {
                all.forEach(relocation -> name(number, relocation));
            }
        });
    }

    /**
     * In code, a place counts as a relocation without a symbol; otherwise it is a word of a constant bank with addresses or the program's constants.
     */
    private void add(HoistedVariable.Relocation place, Map.Entry<Long, CubinSection> at) throws MachineCodeException {
        CubinSection section = at == null ? null : at.getValue();
        long offset = at == null ? 0 : place.offsetBytes() - at.getKey();
        boolean inside = section != null && offset <= section.bytesInFile() - place.widthBytes();
        boolean half = place.widthBytes() == Integer.BYTES && (place.shiftBits() == 0 || place.shiftBits() == Integer.SIZE);
        if (inside && section.isCode() && half && offset % InstructionWord.BYTES == Integer.BYTES) {
            int type = place.shiftBits() == 0 ? LOW_HALF : HIGH_HALF;
            bySection.computeIfAbsent(section.index(), _ -> new ArrayList<>())
                    .add(new Relocations.Relocation(0, offset - Integer.BYTES, type, NO_SYMBOL, 0, false));
        } else if (!inside || !WRITTEN_BANKS.contains(section.name()) || place.widthBytes() != Long.BYTES || offset % Integer.BYTES != 0) {
            throw new MachineCodeException("an address of a variable at a place for none", (int) Math.min(place.offsetBytes(), Integer.MAX_VALUE));
        }
    }

    private void name(int section, Relocations.Relocation relocation) {
        named.add(relocation.symbol());
        CubinSymbols.Symbol symbol = symbols.named(relocation);
        if (symbol != null && symbol.value() + relocation.addend() != 0) {
            inner.computeIfAbsent(symbol.section(), _ -> new HashSet<>()).add(section);
        }
    }

    /** Returns whether no loaded section has the address of a symbol of a section. */
    boolean isUnnamed(CubinSection section) {
        return symbols.of(section).stream().noneMatch(symbol -> named.contains(symbol.index()));
    }

    /** Returns whether nothing is written into a section. */
    boolean isUnwritten(CubinSection section) {
        return bySection.getOrDefault(section.index(), List.of()).isEmpty();
    }

    /**
     * Returns whether another section has an address after a section's start, so that the section may be entered there with any register contents.
     */
    boolean isEnteredInside(CubinSection section) {
        return inner.getOrDefault(section.index(), Set.of()).stream().anyMatch(from -> from != section.index());
    }

    /**
     * Checks the writes to a section of code.
     *
     * @return offsets of the instructions that are changed
     * @throws MachineCodeException if more than a constant or the target of a call is written, or if a call does not lead to code
     */
    Set<Long> into(CubinSection section, SectionFlow flow, MachineFence fence) throws MachineCodeException {
        Set<Long> offsets = new HashSet<>();
        for (Relocations.Relocation relocation : bySection.getOrDefault(section.index(), List.of())) {
            long offset = relocation.offset();
            if (!isConstant(flow, relocation) && !isCall(flow, relocation) || !isWhole(flow, relocation)) {
                throw new MachineCodeException("a relocation that may change an instruction", (int) Math.min(offset, Integer.MAX_VALUE));
            }
            offsets.add(offset);
        }
        for (int i = 0; i < flow.count(); i++) {
            if (ReportSequence.begins(flow, i, fence) && isWritten(offsets, i)) {
                throw new MachineCodeException("a relocation that may change a report", i * InstructionWord.BYTES);
            }
        }
        Looks looks = Looks.of(flow, fence);
        for (long offset : offsets) {
            if (looks.isPart((int) (offset / InstructionWord.BYTES))) {
                throw new MachineCodeException("a relocation that may change a look at the stop word", (int) offset);
            }
        }
        return offsets;
    }

    private static boolean isWritten(Set<Long> offsets, int report) {
        boolean written = false;
        for (int i = report; i < report + ReportSequence.BEFORE_STORE; i++) {
            written |= offsets.contains((long) i * InstructionWord.BYTES);
        }
        return written;
    }

    private static boolean isConstant(SectionFlow flow, Relocations.Relocation relocation) {
        int at = place(flow, relocation);
        return at >= 0 && (relocation.type() == LOW_HALF || relocation.type() == HIGH_HALF)
                && switch (InstructionWord.key(flow.low(at), flow.high(at))) {
                    case 0x802, 0x424, 0x882 -> true;
                    default -> false;
                };
    }

    /** The functions that a section's calls name, by the names of their sections. */
    Set<String> calledBy(CubinSection section) {
        Set<String> called = new HashSet<>();
        for (Relocations.Relocation relocation : bySection.getOrDefault(section.index(), List.of())) {
            CubinSymbols.Symbol symbol = isCall(relocation) ? symbols.named(relocation) : null;
            CubinSection target = symbol == null ? null : cubin.section(symbol.section());
            if (target != null && target.isCode()) {
                called.add(target.functionName(CubinSection.CODE));
            }
        }
        return called;
    }

    /**
     * Returns the first call of a driver function that a thread may reach. It is not known how such a function uses its pointers. A call
     * after a report under the same predicate is never reached.
     *
     * @return null if there is none
     */
    String driverCall(CubinSection section, SectionFlow flow, MachineFence fence) {
        for (Relocations.Relocation relocation : bySection.getOrDefault(section.index(), List.of())) {
            int at = place(flow, relocation);
            CubinSymbols.Symbol symbol = isCall(relocation) && at >= 0 ? symbols.named(relocation) : null;
            if (symbol != null && symbol.section() == 0 && !ReportSequence.endsBefore(flow, at, fence)) {
                return "a call of the driver's " + PrintableText.of(symbol.name(), LONGEST_NAME) + " at offset 0x"
                        + Long.toHexString(relocation.offset());
            }
        }
        return null;
    }

    /** Returns whether the table contains the whole written value: no addend is in the code. */
    private static boolean isWhole(SectionFlow flow, Relocations.Relocation relocation) {
        int at = place(flow, relocation);
        return !relocation.inPlace() || InstructionWord.immediate(flow.low(at)) == 0 && (!isTarget(flow, at) || (flow.high(at) & UPPER_TARGET) == 0);
    }

    private static boolean isTarget(SectionFlow flow, int at) {
        return flow.operation(at).kind() == Kind.CALL_SYMBOL;
    }

    /** Returns whether a relocation is of a call; its type depends on the architecture: one from sm_90 on, the other before. */
    private static boolean isCall(Relocations.Relocation relocation) {
        return relocation.type() == CALL || relocation.type() == ABSOLUTE_CALL;
    }

    /** Returns whether a relocation writes a call's target. A called function that is not in the cubin is a driver function. */
    private boolean isCall(SectionFlow flow, Relocations.Relocation relocation) {
        int at = place(flow, relocation);
        CubinSymbols.Symbol symbol = symbols.named(relocation);
        int call = flow.architecture() == Architecture.SM_90 ? CALL : ABSOLUTE_CALL;
        if (at < 0 || relocation.type() != call || flow.operation(at).kind() != Kind.CALL_SYMBOL || symbol == null) {
            return false;
        }
        CubinSection called = cubin.section(symbol.section());
        return called != null ? called.isCode() : symbol.section() == 0 && symbol.index() != 0 && relocation.addend() == 0;
    }

    /** Returns the instruction to which a relocation writes; negative if it is none, or not a whole one. */
    private static int place(SectionFlow flow, Relocations.Relocation relocation) {
        long at = relocation.offset() / InstructionWord.BYTES;
        return relocation.offset() >= 0 && relocation.offset() % InstructionWord.BYTES == 0 && at < flow.count() ? (int) at : -1;
    }
}
