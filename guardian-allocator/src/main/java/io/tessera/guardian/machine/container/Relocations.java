package io.tessera.guardian.machine.container;

import io.tessera.guardian.machine.MachineCodeException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Relocations: addresses of symbols that a loader writes into the sections of a cubin. Stateless. */
public final class Relocations {
    private static final int WITH_ADDEND = 24;
    private static final int WITHOUT_ADDEND = 16;

    private Relocations() {
    }

    /**
     * A relocation.
     *
     * @param at       its offset in its table, in bytes
     * @param offset   the offset that it writes in the table's section
     * @param type     type, which defines the written value and bits
     * @param symbol   the number of the symbol whose address it writes; negative, or too large, in damaged files
     * @param addend   number added to the address; 0 if the table has none
     * @param inPlace  whether the table has no addends: then the previous contents are the addend
     */
    public record Relocation(int at, long offset, int type, int symbol, long addend, boolean inPlace) {
    }

    /** Returns whether a section is a table of relocations. */
    public static boolean isTable(CubinSection section) {
        return section.type() == CubinSection.RELOCATIONS || section.type() == CubinSection.RELOCATIONS_WITHOUT_ADDEND;
    }

    /**
     * Returns the relocations of a table; none if there is no table.
     *
     * @throws MachineCodeException if its size is not a multiple of a relocation's size
     */
    public static List<Relocation> of(CubinSection table) throws MachineCodeException {
        if (table == null) {
            return List.of();
        }
        boolean addends = table.type() != CubinSection.RELOCATIONS_WITHOUT_ADDEND;
        int step = addends ? WITH_ADDEND : WITHOUT_ADDEND;
        byte[] data = table.data();
        if (data.length % step != 0) {
            throw new MachineCodeException("relocations of " + data.length + " bytes, which is no number of them");
        }
        ByteBuffer bytes = ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN);
        List<Relocation> all = new ArrayList<>(data.length / step);
        for (int at = 0; at < data.length; at += step) {
            long info = bytes.getLong(at + 8);
            all.add(new Relocation(at, bytes.getLong(at), (int) info, (int) (info >>> 32), addends ? bytes.getLong(at + 16) : 0, !addends));
        }
        return all;
    }

    /** Those that write to a section of a name, from tables with addends and without. */
    public static List<Relocation> into(Cubin cubin, String section) throws MachineCodeException {
        List<Relocation> all = new ArrayList<>(of(cubin.section(".rela" + section)));
        all.addAll(of(cubin.section(".rel" + section)));
        return all;
    }

    /** Those of all tables of a cubin, by the number of the section that they write to. */
    public static Map<Integer, List<Relocation>> bySection(Cubin cubin) throws MachineCodeException {
        Map<Integer, List<Relocation>> all = new HashMap<>();
        for (CubinSection section : cubin.sections()) {
            if (isTable(section)) {
                all.computeIfAbsent(section.info(), _ -> new ArrayList<>()).addAll(of(section));
            }
        }
        return all;
    }
}
