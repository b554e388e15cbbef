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
import java.util.function.LongUnaryOperator;

/**
 * Attributes of a cubin or function ({@code .nv.info}): records of a format, a number and a value. Some hold offsets of instructions, which move with them. The
 * numbers are those of {@code EIATTR_*} as cuobjdump prints them. Immutable.
 */
public final class Attributes {
    /** EIATTR_REGCOUNT: symbol and count, in the attributes of the file. */
    public static final int REGISTER_COUNT = 0x2f;
    /** EIATTR_INDIRECT_BRANCH_TARGETS. */
    public static final int BRANCH_TARGETS = 0x34;
    /** EIATTR_PARAM_CBANK: the symbol of a table, and where the parameters begin in constant bank 0, with their size. */
    private static final int PARAMETERS = 0x0a;
    private static final int LONG_FORMAT = 4;
    /** Lists of offsets: exits, cooperative groups, warp-wide instructions, system calls and others. */
    private static final Set<Integer> OFFSETS = Set.of(0x1c, 0x28, 0x31, 0x46, 0x1d, 0x25, 0x27, 0x47);
    /** EIATTR_MBARRIER_INSTR_OFFSETS: records of 16 bytes that begin with an offset. */
    private static final int BARRIERS = 0x39;
    /** EIATTR_UNUSED_LOAD_BYTE_OFFSET, EIATTR_ATOM16_EMUL_INSTR_REG_MAP: records of 8 bytes that begin with an offset. */
    private static final Set<Integer> PAIRS = Set.of(0x44, 0x2e);
    /** EIATTR_ANNOTATIONS: records of a kind and an offset. */
    private static final int ANNOTATIONS = 0x55;
    /** Hold no offsets: sizes, parameters, counts of registers, versions. */
    private static final Set<Integer> WITHOUT_OFFSETS = Set.of(0x01, 0x03, 0x04, 0x05, 0x0a, 0x0c, 0x0d, 0x0f, 0x10, 0x11, 0x12, 0x13, 0x17, 0x18,
            0x19, 0x1b, 0x1e, 0x23, 0x29,
            0x2a, 0x2b, 0x2c, 0x2d, 0x2f, 0x32, 0x35, 0x36, 0x37, 0x38, 0x3a, 0x3b, 0x3c, 0x3d, 0x3e, 0x3f, 0x40, 0x41, 0x42, 0x45, 0x4c, 0x50, 0x54,
            0x5f, 0x66, 0x68, 0x6b);

    private final ByteBuffer bytes;
    private final List<int[]> records = new ArrayList<>();

    private Attributes(byte[] data) {
        bytes = ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN);
    }

    /**
     * Reads them.
     *
     * @param data contents of the section, not copied
     * @throws MachineCodeException if a record leaves it
     */
    public static Attributes read(byte[] data) throws MachineCodeException {
        Attributes attributes = new Attributes(data);
        ByteBuffer bytes = attributes.bytes;
        int at = 0;
        while (at + 4 <= data.length) {
            int format = bytes.get(at) & 0xff;
            int length = format == LONG_FORMAT ? bytes.getShort(at + 2) & 0xffff : 0;
            if (format < 1 || format > LONG_FORMAT || at + 4 + length > data.length) {
                throw new MachineCodeException("attributes of an unknown format");
            }
            attributes.records.add(new int[] {bytes.get(at + 1) & 0xff, at + 4, length});
            at += 4 + length;
        }
        return attributes;
    }

    /**
     * Tables of branches: for each, the offset of its branch and those of its targets.
     *
     * @throws MachineCodeException if a record is damaged
     */
    public List<int[]> branchTables() throws MachineCodeException {
        List<int[]> tables = new ArrayList<>();
        for (int[] record : records) {
            int end = record[1] + record[2];
            for (int at = record[1]; record[0] == BRANCH_TARGETS && at < end;) {
                int count = at + 12 <= end ? bytes.getInt(at + 8) : -1;
                if (count < 0 || count > (end - at - 12) / 4) {
                    throw new MachineCodeException("a table of branches that leaves its record");
                }
                int[] table = new int[count + 1];
                table[0] = bytes.getInt(at);
                for (int i = 0; i < count; i++) {
                    table[i + 1] = bytes.getInt(at + 12 + 4 * i);
                }
                tables.add(table);
                at += 12 + 4 * count;
            }
        }
        return tables;
    }

    /**
     * Returns the attributes with instructions at other places.
     *
     * @param moved   new offset of the instruction at an old offset, negative if none began there: drivers may change instructions that attributes
     *                name, for example those of barriers
     * @param targets the new offset for a branch target, which is before the code that was inserted before the instruction
     * @throws MachineCodeException if an attribute is not known, or names an offset where no instruction began
     */
    public byte[] moved(LongUnaryOperator moved, LongUnaryOperator targets) throws MachineCodeException {
        ByteBuffer to = ByteBuffer.wrap(bytes.array().clone()).order(ByteOrder.LITTLE_ENDIAN);
        for (int[] record : records) {
            int attribute = record[0];
            int end = record[1] + record[2];
            if (OFFSETS.contains(attribute)) {
                step(to, record[1], end, 4, 0, moved);
            } else if (attribute == BARRIERS) {
                step(to, record[1], end, 16, 0, moved);
            } else if (PAIRS.contains(attribute)) {
                step(to, record[1], end, 8, 0, moved);
            } else if (attribute == ANNOTATIONS) {
                for (int at = record[1]; at + 8 <= end; at += 8) {
                    if (bytes.getInt(at) != 1) {
                        throw new MachineCodeException("an annotation of kind " + bytes.getInt(at));
                    }
                }
                step(to, record[1], end, 8, 4, moved);
            } else if (attribute == BRANCH_TARGETS) {
                moveTables(to, record[1], end, moved, targets);
            } else if (!WITHOUT_OFFSETS.contains(attribute)) {
                throw new MachineCodeException("an attribute that is not known (0x" + Integer.toHexString(attribute) + ")");
            }
        }
        return to.array();
    }

    private void step(ByteBuffer to, int from, int end, int bytesEach, int offsetAt, LongUnaryOperator moved) throws MachineCodeException {
        for (int at = from; at + bytesEach <= end; at += bytesEach) {
            move(to, at + offsetAt, moved);
        }
    }

    private void moveTables(ByteBuffer to, int from, int end, LongUnaryOperator moved, LongUnaryOperator targets) throws MachineCodeException {
        int at = from;
        while (at + 12 <= end) {
            int count = bytes.getInt(at + 8);
            move(to, at, moved);
            for (int i = 0; i < count; i++) {
                move(to, at + 12 + 4 * i, targets);
            }
            at += 12 + 4 * count;
        }
    }

    private void move(ByteBuffer to, int at, LongUnaryOperator moved) throws MachineCodeException {
        long offset = moved.applyAsLong(Integer.toUnsignedLong(bytes.getInt(at)));
        if (offset < 0) {
            throw new MachineCodeException("an attribute names offset 0x" + Integer.toHexString(bytes.getInt(at)) + ", where no instruction begins");
        }
        to.putInt(at, (int) offset);
    }

    /**
     * Returns the start of a kernel's parameters in constant bank 0, in bytes: one number, unless the attributes do not have it or contradict each
     * other.
     */
    public Set<Integer> parameterOffsets() {
        Set<Integer> offsets = new HashSet<>();
        for (int[] record : records) {
            if (record[0] == PARAMETERS) {
                offsets.add(record[2] == 8 ? bytes.getShort(record[1] + 4) & 0xffff : -1);
            }
        }
        return offsets;
    }

    /** Returns the declared number of registers of functions, by their symbols. */
    public Map<Integer, Integer> registers() {
        Map<Integer, Integer> counts = new HashMap<>();
        for (int[] record : records) {
            if (record[0] == REGISTER_COUNT && record[2] == 8) {
                counts.put(bytes.getInt(record[1]), bytes.getInt(record[1] + 4));
            }
        }
        return counts;
    }

    /** Returns the attributes with other numbers of registers for some functions, by their symbols. */
    public byte[] withRegisters(Map<Integer, Integer> counts) {
        ByteBuffer to = ByteBuffer.wrap(bytes.array().clone()).order(ByteOrder.LITTLE_ENDIAN);
        for (int[] record : records) {
            Integer count = record[0] == REGISTER_COUNT && record[2] == 8 ? counts.get(bytes.getInt(record[1])) : null;
            if (count != null) {
                to.putInt(record[1] + 4, count);
            }
        }
        return to.array();
    }
}
