package io.tessera.guardian.machine.container;

import io.tessera.guardian.machine.MachineCodeException;
import java.nio.charset.StandardCharsets;

/** A table of names that end with a zero byte. Names may share their ends, but all that are read have a bounded length together. One owner thread. */
final class StringTable {
    /** How often, on average, each byte may be part of a name. */
    private static final long SHARED = 8;
    private static final long LEAST = 1 << 16;

    private final byte[] table;
    private long left;

    StringTable(byte[] table) {
        this.table = table;
        this.left = LEAST + SHARED * table.length;
    }

    /**
     * The name at an offset.
     *
     * @throws MachineCodeException if it leaves the table, or if the names are too long together
     */
    String at(int offset) throws MachineCodeException {
        int end = offset;
        while (end >= 0 && end < table.length && table[end] != 0) {
            end++;
        }
        if (offset < 0 || end >= table.length) {
            throw new MachineCodeException("a name leaves its table");
        }
        left -= end - offset;
        if (left < 0) {
            throw new MachineCodeException("names of a cubin overlap");
        }
        return new String(table, offset, end - offset, StandardCharsets.ISO_8859_1);
    }
}
