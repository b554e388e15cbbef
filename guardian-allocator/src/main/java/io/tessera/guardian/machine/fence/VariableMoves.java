package io.tessera.guardian.machine.fence;

import io.tessera.guardian.fence.HoistedVariable;
import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.MovedVariables;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.Kind;
import io.tessera.guardian.machine.code.SectionFlow;
import io.tessera.guardian.machine.container.Cubin;
import io.tessera.guardian.machine.container.CubinSection;
import io.tessera.guardian.machine.container.CubinSymbols;
import io.tessera.guardian.machine.container.Relocations;
import io.tessera.guardian.ptx.Linkage;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;

/**
 * Decides which variables of a cubin move into the tenant's window, and removes their addresses from the driver's relocations. Every variable moves that
 * can: also one that no code of the cubin uses, since a program can ask for its address and pass it to kernels of other cubins. A variable cannot move if
 * it is managed, overlaps others, or holds the address of something that does not move, or if its address is written in an unknown form. Thread-safe until
 * {@link #apply}, which has one owner thread.
 */
final class VariableMoves {
    /** {@code R_CUDA_64} and {@code R_CUDA_G64}: an address of 64 bits. */
    private static final int ADDRESS = 2;
    private static final int GENERIC_ADDRESS = 4;
    /** {@code R_CUDA_ABS32_LO_32} and {@code R_CUDA_ABS32_HI_32}: half of one, into bits 32 to 63 of an instruction. */
    private static final int LOW_HALF = 56;
    private static final int HIGH_HALF = 57;
    private static final String VARIABLES = ".nv.global";
    private static final String BANK = ".nv.constant4";
    private static final String CONSTANTS = ".nv.constant3";
    /** More than a device has. */
    private static final long MOST_BYTES = 1L << 40;
    private static final int RELOCATION_BYTES = 24;
    private static final int RELOCATION_BYTES_WITHOUT_ADDEND = 16;

    private final Cubin cubin;
    private final CubinSymbols symbols;
    private final Map<Integer, List<Relocations.Relocation>> relocations;
    private final List<CubinSymbols.Symbol> variables = new ArrayList<>();
    /** Indexed by section: numbers of variables by their start. */
    private final Map<Integer, NavigableMap<Long, Integer>> bySection = new HashMap<>();
    /** Addresses that are written into variables. */
    private final Map<Integer, List<Relocations.Relocation>> held = new HashMap<>();
    private final BitSet fixed = new BitSet();
    private boolean ownAddresses;

    VariableMoves(Cubin cubin, CubinSymbols symbols) throws MachineCodeException {
        this.cubin = cubin;
        this.symbols = symbols;
        this.relocations = Relocations.bySection(cubin);
        relocations.forEach((number, all) -> all.replaceAll(relocation -> withAddend(cubin.section(number), relocation)));
        long bytes = 0;
        for (CubinSection section : cubin.sections()) {
            if (section.name().startsWith(VARIABLES)) {
                bytes = Math.min(MOST_BYTES + 1, bytes + add(section));
            }
        }
        if (bytes > MOST_BYTES || variables.stream().map(CubinSymbols.Symbol::name).distinct().count() < variables.size()) {
            fixed.set(0, variables.size());
        }
        fixed.set(variables.size());
        relocations.forEach(this::readRelocations);
        fixHolders();
    }

    private long add(CubinSection section) {
        List<CubinSymbols.Symbol> own = symbols.of(section).stream().filter(symbol -> symbol.type() != CubinSymbols.SECTION)
                .sorted(Comparator.comparingLong(CubinSymbols.Symbol::value)).toList();
        NavigableMap<Long, Integer> numbers = bySection.computeIfAbsent(section.index(), _ -> new TreeMap<>());
        long end = 0;
        long bytes = 0;
        boolean whole = true;
        for (CubinSymbols.Symbol symbol : own) {
            whole &= symbol.value() >= end && symbol.size() > 0 && symbol.size() <= section.bytesInMemory() - symbol.value();
            end = symbol.value() + symbol.size();
            bytes = Math.min(MOST_BYTES + 1, bytes + Math.min(MOST_BYTES + 1, symbol.size()));
            if (symbol.managed()) {
                fixed.set(variables.size());
            }
            numbers.put(symbol.value(), variables.size());
            variables.add(symbol);
        }
        if (!whole) {
            numbers.values().forEach(fixed::set);
            fixed.set(variables.size() - own.size(), variables.size());
        }
        return whole ? bytes : 0;
    }

    /** The variable at an offset of a section; the number behind the last one, which stands for everything that does not move, if there is none. */
    private int at(int section, long offset) {
        Map.Entry<Long, Integer> before = bySection.getOrDefault(section, Collections.emptyNavigableMap()).floorEntry(offset);
        boolean inside = before != null && offset - before.getKey() < variables.get(before.getValue()).size();
        return inside ? before.getValue() : variables.size();
    }

    /** If a table has no addends, the previous contents of the section are the addend. */
    private static Relocations.Relocation withAddend(CubinSection target, Relocations.Relocation relocation) {
        boolean inside = target != null && relocation.offset() >= 0 && relocation.offset() <= target.data().length - Long.BYTES;
        if (!relocation.inPlace() || !inside) {
            return relocation;
        }
        long word = ByteBuffer.wrap(target.data()).order(ByteOrder.LITTLE_ENDIAN).getLong((int) relocation.offset());
        long addend = target.isCode() ? InstructionWord.immediate(word) : word;
        return new Relocations.Relocation(relocation.at(), relocation.offset(), relocation.type(), relocation.symbol(), addend, true);
    }

    /** The variable whose address a relocation writes, as {@link #at}. */
    private int number(Relocations.Relocation relocation) {
        CubinSymbols.Symbol symbol = symbols.named(relocation);
        return symbol == null ? variables.size() : at(symbol.section(), symbol.value() + relocation.addend());
    }

    private void readRelocations(int number, List<Relocations.Relocation> all) {
        CubinSection target = cubin.section(number);
        for (Relocations.Relocation relocation : all) {
            if (target != null && (target.isLoaded() || target.isCode())) {
                fixUnknown(target, relocation);
                ownAddresses |= isOwnAddress(relocation);
                if (bySection.containsKey(number)) {
                    int holder = at(number, relocation.offset());
                    held.computeIfAbsent(holder, _ -> new ArrayList<>()).add(relocation);
                    if (holder != at(number, relocation.offset() + Long.BYTES - 1)) {
                        fixed.set(holder);
                        fixed.set(at(number, relocation.offset() + Long.BYTES - 1));
                    }
                }
            }
        }
    }

    /** Returns whether it writes the address of a function of the cubin; places after the start of a function are return addresses. */
    private boolean isOwnAddress(Relocations.Relocation relocation) {
        CubinSymbols.Symbol symbol = symbols.named(relocation);
        CubinSection code = symbol == null ? null : cubin.section(symbol.section());
        boolean address = relocation.type() == ADDRESS || relocation.type() == GENERIC_ADDRESS || relocation.type() == LOW_HALF;
        return code != null && code.isCode() && address && relocation.addend() == 0;
    }

    private void fixUnknown(CubinSection target, Relocations.Relocation relocation) {
        CubinSymbols.Symbol symbol = symbols.named(relocation);
        if (isKnown(target, relocation) && number(relocation) < variables.size() || symbol == null) {
            return;
        }
        // It may be any place of the section: what is added is not known, or leads out of the variable.
        bySection.getOrDefault(symbol.section(), Collections.emptyNavigableMap()).values().forEach(fixed::set);
    }

    private static boolean isKnown(CubinSection target, Relocations.Relocation relocation) {
        boolean half = relocation.type() == LOW_HALF || relocation.type() == HIGH_HALF;
        boolean whole = relocation.type() == ADDRESS || relocation.type() == GENERIC_ADDRESS;
        int width = half ? Integer.BYTES : Long.BYTES;
        boolean inside = relocation.offset() >= 0 && relocation.offset() <= target.data().length - width;
        return inside
                && (target.isCode() ? half && !(relocation.inPlace() && relocation.addend() != 0) && relocation.offset() % InstructionWord.BYTES == 0
                        : whole && (isBank(target) || target.name().startsWith(VARIABLES)));
    }

    private static boolean isBank(CubinSection section) {
        return BANK.equals(section.name()) || CONSTANTS.equals(section.name());
    }

    /** A variable that holds the address of something that does not move stays, too, and so does one that holds its own. */
    private void fixHolders() {
        Map<Integer, List<Integer>> holders = new HashMap<>();
        held.forEach((holder, all) -> all.forEach(relocation -> holders.computeIfAbsent(number(relocation), _ -> new ArrayList<>()).add(holder)));
        Deque<Integer> open = new ArrayDeque<>(fixed.stream().boxed().toList());
        while (!open.isEmpty()) {
            for (int holder : holders.getOrDefault(open.remove(), List.of())) {
                if (!fixed.get(holder)) {
                    fixed.set(holder);
                    open.add(holder);
                }
            }
        }
    }

    /** Numbers of variables by the offsets in constant bank 4 that hold their addresses. */
    Map<Long, Integer> inBank() {
        Map<Long, Integer> numbers = new HashMap<>();
        CubinSection bank = cubin.section(BANK);
        for (Relocations.Relocation relocation : bank == null ? List.<Relocations.Relocation>of()
                : relocations.getOrDefault(bank.index(), List.of())) {
            CubinSymbols.Symbol symbol = symbols.named(relocation);
            if (symbol != null && symbol.type() != CubinSymbols.FUNCTION) {
                numbers.put(relocation.offset(), number(relocation));
            }
        }
        return numbers;
    }

    /** Numbers of variables by the instructions of a section into which relocations write their addresses. */
    Map<Integer, Integer> inCode(CubinSection section) {
        Map<Integer, Integer> numbers = new HashMap<>();
        for (Relocations.Relocation relocation : relocations.getOrDefault(section.index(), List.of())) {
            CubinSymbols.Symbol symbol = symbols.named(relocation);
            CubinSection target = symbol == null ? null : cubin.section(symbol.section());
            boolean inside = relocation.offset() >= 0 && relocation.offset() < section.data().length;
            if (inside && target != null && !target.isCode()) {
                numbers.put((int) (relocation.offset() / InstructionWord.BYTES), number(relocation));
            }
        }
        return numbers;
    }

    /**
     * Returns the instructions of a section that call functions of the driver. A call through a register is one if the cubin has no address of a
     * function of its own.
     */
    Set<Integer> driverCalls(SectionFlow flow, CubinSection section) {
        Set<Integer> calls = new HashSet<>();
        for (Relocations.Relocation relocation : relocations.getOrDefault(section.index(), List.of())) {
            CubinSymbols.Symbol symbol = symbols.named(relocation);
            if (symbol != null && symbol.section() == 0 && symbol.type() == CubinSymbols.FUNCTION) {
                calls.add((int) (relocation.offset() / InstructionWord.BYTES));
            }
        }
        for (int i = 0; i < flow.count() && !ownAddresses; i++) {
            if (flow.operation(i).kind() == Kind.CALL_REGISTER) {
                calls.add(i);
            }
        }
        return calls;
    }

    /**
     * Requires that the variables that a function uses can move.
     *
     * @param uses as {@link VariableUses#find} has them
     * @throws MachineCodeException if one of them cannot
     */
    void requireMovable(Map<Integer, Integer> uses) throws MachineCodeException {
        for (Map.Entry<Integer, Integer> use : uses.entrySet()) {
            if (fixed.get(use.getKey())) {
                throw new MachineCodeException("a use of a variable of the module that cannot be moved", use.getValue() * InstructionWord.BYTES);
            }
        }
    }

    /**
     * Takes the addresses of what moves out of the tables that the driver works on.
     *
     * @return the variables, and where their addresses go
     * @throws MachineCodeException if the cubin is damaged
     */
    MovedVariables apply() throws MachineCodeException {
        if (fixed.cardinality() > variables.size()) {
            return MovedVariables.NONE;
        }
        Map<Integer, List<HoistedVariable.Relocation>> places = new HashMap<>();
        for (CubinSection table : cubin.sections()) {
            CubinSection target = Relocations.isTable(table) ? cubin.section(table.info()) : null;
            if (target != null && (isBank(target) || target.isCode())) {
                places.computeIfAbsent(target.index(), _ -> new ArrayList<>()).addAll(take(table, target));
            }
        }
        List<HoistedVariable> all = new ArrayList<>();
        for (int i = fixed.nextClearBit(0); i < variables.size(); i = fixed.nextClearBit(i + 1)) {
            all.add(hoisted(i));
        }
        return new MovedVariables(all, inFile(places));
    }

    /** Removes the entries of a table that name what moves. */
    private List<HoistedVariable.Relocation> take(CubinSection table, CubinSection target) throws MachineCodeException {
        List<HoistedVariable.Relocation> taken = new ArrayList<>();
        ByteArrayOutputStream left = new ByteArrayOutputStream();
        byte[] data = table.data();
        int step = table.type() == CubinSection.RELOCATIONS_WITHOUT_ADDEND ? RELOCATION_BYTES_WITHOUT_ADDEND : RELOCATION_BYTES;
        for (Relocations.Relocation entry : Relocations.of(table)) {
            Relocations.Relocation relocation = withAddend(target, entry);
            int variable = number(relocation);
            if (!fixed.get(variable)) {
                boolean half = target.isCode();
                taken.add(place(relocation, variable, relocation.offset() + (half ? Integer.BYTES : 0), half ? Integer.BYTES : Long.BYTES));
            } else {
                left.write(data, relocation.at(), step);
            }
        }
        if (!taken.isEmpty()) {
            table.data(left.toByteArray());
        }
        return taken;
    }

    private HoistedVariable.Relocation place(Relocations.Relocation relocation, int variable, long offset, int width) {
        CubinSymbols.Symbol symbol = symbols.all().get(relocation.symbol());
        long addend = symbol.value() + relocation.addend() - variables.get(variable).value();
        return new HoistedVariable.Relocation(offset, width, relocation.type() == HIGH_HALF ? Integer.SIZE : 0, variables.get(variable).name(),
                addend);
    }

    private HoistedVariable hoisted(int number) {
        CubinSymbols.Symbol variable = variables.get(number);
        CubinSection section = cubin.section(variable.section());
        byte[] data = section.data();
        byte[] initial = data.length == 0 ? data : Arrays.copyOfRange(data, (int) variable.value(), (int) (variable.value() + variable.size()));
        long alignment = Math.max(1, Long.highestOneBit(section.alignment()));
        long own = variable.value() == 0 ? alignment : Math.min(alignment, Long.lowestOneBit(variable.value()));
        List<HoistedVariable.Relocation> addresses = held.getOrDefault(number, List.of()).stream()
                .map(relocation -> place(relocation, number(relocation), relocation.offset() - variable.value(), Long.BYTES)).toList();
        return new HoistedVariable(variable.name(), "", Linkage.INTERNAL, false, false, variable.size(), (int) own, initial, addresses);
    }

    /** Offsets in the file as it is written now. */
    private List<HoistedVariable.Relocation> inFile(Map<Integer, List<HoistedVariable.Relocation>> places) throws MachineCodeException {
        Cubin written = Cubin.read(cubin.bytes());
        List<HoistedVariable.Relocation> all = new ArrayList<>();
        places.forEach((section, own) -> {
            long from = written.section(section).offset();
            own.forEach(place -> all.add(new HoistedVariable.Relocation(from + place.offsetBytes(), place.widthBytes(), place.shiftBits(),
                    place.variable(), place.addend())));
        });
        return all;
    }
}
