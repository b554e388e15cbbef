package io.tessera.guardian.machine.container;

import io.tessera.guardian.machine.MachineCodeException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.BitSet;

/** Reads what a cubin says of the code in a section. Stateless. */
public final class CodeReader {
    private static final int BYTES = 16;

    private CodeReader() {
    }

    /** The code: two words for each instruction. */
    public static long[] words(CubinSection section) throws MachineCodeException {
        byte[] data = section.data();
        if (data.length % BYTES != 0) {
            throw new MachineCodeException("code of " + data.length + " bytes, which is no number of instructions");
        }
        long[] words = new long[data.length / Long.BYTES];
        ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN).asLongBuffer().get(words);
        return words;
    }

    /**
     * Instructions that are entered other than by branches of the section: functions, places whose addresses relocations write, and targets of branch
     * tables, by their numbers.
     *
     * @throws MachineCodeException if one lies outside
     */
    public static BitSet entered(Cubin cubin, CubinSection section, CubinSymbols symbols) throws MachineCodeException {
        BitSet entered = new BitSet();
        int count = section.data().length / BYTES;
        for (CubinSymbols.Symbol symbol : symbols.of(section)) {
            if (symbol.type() != CubinSymbols.SECTION) {
                enter(entered, symbol.value(), count);
            }
        }
        for (long offset : symbols.referenced(section)) {
            enter(entered, offset, count);
        }
        CubinSection attributes = cubin.section(CubinSection.ATTRIBUTES + "." + section.functionName(CubinSection.CODE));
        if (attributes != null) {
            for (int[] table : Attributes.read(attributes.data()).branchTables()) {
                for (int i = 1; i < table.length; i++) {
                    enter(entered, Integer.toUnsignedLong(table[i]), count);
                }
            }
        }
        return entered;
    }

    private static void enter(BitSet entered, long offset, int count) throws MachineCodeException {
        if (offset % BYTES != 0 || offset < 0 || offset / BYTES > count) {
            throw new MachineCodeException("a place outside of the code: 0x" + Long.toHexString(offset));
        }
        if (offset / BYTES < count) {
            entered.set((int) (offset / BYTES));
        }
    }
}
