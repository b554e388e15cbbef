package io.tessera.guardian.machine.fence;

import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.container.Attributes;
import io.tessera.guardian.machine.container.Cubin;
import io.tessera.guardian.machine.container.CubinSection;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/**
 * A function's attributes and branch tables after its code has moved. Immutable until it is stored.
 *
 * @param attributes   null if the function has none
 * @param tables       null if the function has none
 */
record FunctionData(CubinSection attributes, byte[] movedAttributes, CubinSection tables, byte[] movedTables) {
    /** Comparisons for each word of the bank and of the tables. */
    private static final long MOST_STEPS = 1 << 12;

    /**
     * Makes them; changes nothing.
     *
     * @throws MachineCodeException if something names a place where no instruction began, or a table is not found
     */
    static FunctionData moved(Cubin cubin, FunctionCode function, RewrittenSection section) throws MachineCodeException {
        CubinSection attributes = cubin.section(CubinSection.ATTRIBUTES + "." + function.name());
        if (attributes == null) {
            return new FunctionData(null, null, null, null);
        }
        Attributes all = Attributes.read(attributes.data());
        List<int[]> tables = all.branchTables();
        CubinSection bank = cubin.section(CubinSection.TABLES + function.name());
        byte[] moved = bank == null ? null : bank.data().clone();
        requireFewSteps(bank, tables);
        for (int[] table : tables) {
            int at = bank == null ? -1 : find(bank.data(), table, 0);
            if (at < 0) {
                throw new MachineCodeException("a branch whose table is not found", table[0]);
            }
            for (; at >= 0; at = find(bank.data(), table, at + Integer.BYTES)) {
                for (int i = 1; i < table.length; i++) {
                    words(moved).putInt(at + Integer.BYTES * (i - 1), (int) section.offset(Integer.toUnsignedLong(table[i])));
                }
            }
        }
        return new FunctionData(attributes, all.moved(section::instruction, section::offset), bank, moved);
    }

    /** Each table is looked for everywhere in the bank. A compiled function has few or small ones; of others the search would take too long. */
    private static void requireFewSteps(CubinSection bank, List<int[]> tables) throws MachineCodeException {
        long words = bank == null ? 0 : bank.data().length / Integer.BYTES;
        long targets = 0;
        for (int[] table : tables) {
            targets += table.length;
        }
        if (words * targets > MOST_STEPS * (words + targets)) {
            throw new MachineCodeException("branch tables that take too long to find");
        }
    }

    private static ByteBuffer words(byte[] data) {
        return ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Returns the position in constant bank 2 of the contiguous targets of a branch, as in its table; -1 if there is none. */
    private static int find(byte[] data, int[] table, int from) {
        ByteBuffer bytes = words(data);
        int length = (table.length - 1) * Integer.BYTES;
        for (int at = from; length > 0 && at + length <= data.length; at += Integer.BYTES) {
            boolean equal = true;
            for (int i = 1; i < table.length && equal; i++) {
                equal = bytes.getInt(at + Integer.BYTES * (i - 1)) == table[i];
            }
            if (equal) {
                return at;
            }
        }
        return -1;
    }

    /** Puts them into the cubin. */
    void store() {
        if (attributes != null) {
            attributes.data(movedAttributes);
        }
        if (tables != null) {
            tables.data(movedTables);
        }
    }
}
