package io.tessera.guardian.machine.container;

import io.tessera.guardian.machine.MachineCodeException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The symbols of a cubin; values and sizes can be replaced. One owner thread. */
public final class CubinSymbols {
    /** {@code STT_FUNC}. */
    public static final int FUNCTION = 2;
    /** {@code STT_SECTION}. */
    public static final int SECTION = 3;
    private static final int BYTES = 24;
    private static final String DEBUG = ".debug";
    /** {@code STO_CUDA_ENTRY}, of kernels. */
    private static final int ENTRY = 0x10;
    /** {@code STO_CUDA_MANAGED}, of variables that the host accesses by their addresses. */
    private static final int MANAGED = 0x4;

    /**
     * A symbol.
     *
     * @param index   in the table
     * @param type    type in {@code st_info}
     * @param entry   whether it is a kernel
     * @param managed whether it is a managed variable
     * @param section the section that contains it; 0 if it is defined elsewhere
     * @param value   its offset there
     * @param size    in bytes
     */
    public record Symbol(int index, String name, int type, boolean entry, boolean managed, int section, long value, long size) {
    }

    private final CubinSection table;
    private final ByteBuffer bytes;
    private final List<Symbol> symbols = new ArrayList<>();
    private final Map<Integer, List<Symbol>> bySection = new HashMap<>();
    private final Map<Integer, List<Long>> references = new HashMap<>();
    private final Set<Integer> named = new HashSet<>();

    private CubinSymbols(CubinSection table) {
        this.table = table;
        this.bytes = ByteBuffer.wrap(table.data().clone()).order(ByteOrder.LITTLE_ENDIAN);
    }

    /**
     * Reads the table.
     *
     * @throws MachineCodeException if there is none, or several, or if it is damaged
     */
    public static CubinSymbols of(Cubin cubin) throws MachineCodeException {
        List<CubinSection> tables = cubin.sections().stream().filter(section -> section.type() == CubinSection.SYMBOLS).toList();
        CubinSection names = tables.size() == 1 ? cubin.section(tables.getFirst().link()) : null;
        if (names == null || tables.getFirst().data().length % BYTES != 0) {
            throw new MachineCodeException("a cubin without a table of symbols, or with a damaged one");
        }
        CubinSymbols symbols = new CubinSymbols(tables.getFirst());
        ByteBuffer all = symbols.bytes;
        StringTable table = new StringTable(names.data());
        for (int at = 0; at < all.capacity(); at += BYTES) {
            int info = all.get(at + 4);
            symbols.add(new Symbol(at / BYTES, table.at(all.getInt(at)), info & 0xf, (all.get(at + 5) & ENTRY) != 0,
                    (all.get(at + 5) & MANAGED) != 0, all.getShort(at + 6) & 0xffff, all.getLong(at + 8), all.getLong(at + 16)));
        }
        symbols.readReferences(cubin);
        return symbols;
    }

    /** Places that relocations name, but for those of tables for debuggers, which no program reads. */
    private void readReferences(Cubin cubin) throws MachineCodeException {
        for (CubinSection table : cubin.sections()) {
            CubinSection target = Relocations.isTable(table) ? cubin.section(table.info()) : null;
            if (target != null && !target.name().startsWith(DEBUG)) {
                for (Relocations.Relocation relocation : Relocations.of(table)) {
                    Symbol symbol = named(relocation);
                    if (symbol != null && (target.isLoaded() || target.isCode())) {
                        named.add(symbol.section());
                    }
                    if (symbol != null && relocation.addend() != 0) {
                        references.computeIfAbsent(symbol.section(), _ -> new ArrayList<>()).add(symbol.value() + relocation.addend());
                    }
                }
            }
        }
    }

    /** Offsets in a section whose addresses a loader writes somewhere, other than those of symbols. */
    public List<Long> referenced(CubinSection section) {
        return references.getOrDefault(section.index(), List.of());
    }

    /** Returns whether a loader writes addresses in a section into loaded sections, so that other code may call it. */
    public boolean isNamed(CubinSection section) {
        return named.contains(section.index());
    }

    private void add(Symbol symbol) {
        symbols.add(symbol);
        bySection.computeIfAbsent(symbol.section(), _ -> new ArrayList<>()).add(symbol);
    }

    /** Those of a section. */
    public List<Symbol> of(CubinSection section) {
        return bySection.getOrDefault(section.index(), List.of());
    }

    /** The symbol that a relocation names; null: there is none. */
    public Symbol named(Relocations.Relocation relocation) {
        int number = relocation.symbol();
        return number >= 0 && number < symbols.size() ? symbols.get(number) : null;
    }

    /** All of them. */
    public List<Symbol> all() {
        return symbols;
    }

    /** Replaces a symbol's value and size in {@link #store}'s table. */
    public void place(Symbol symbol, long value, long size) {
        bytes.putLong(symbol.index() * BYTES + 8, value).putLong(symbol.index() * BYTES + 16, size);
    }

    /** Writes the table into the cubin. */
    public void store() {
        table.data(bytes.array().clone());
    }
}
