package io.tessera.software.matrix;

import io.tessera.software.memory.RealMemory;
import io.tessera.software.program.AddressSpace;
import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.Modifier;
import io.tessera.software.program.Opcode;
import io.tessera.software.program.ValueType;
import java.util.List;

/**
 * {@code ldmatrix}, {@code stmatrix} and {@code movmatrix}: matrices of 8 x 8 elements of 16 bits. A lane has two neighbours of a row, or of a column if the
 * matrix is transposed. Lanes 8 i to 8 i + 7 have the addresses of the rows of matrix i.
 */
final class MatrixRows {
    private static final int ROWS = 8;
    private static final int ROW_BYTES = 16;

    private MatrixRows() {
    }

    /**
     * Returns the instruction with its operands' slots.
     *
     * @throws UnsupportedOperationException if it is a form that is not here
     */
    static WarpStep of(LoweredInstruction i, int[] from, int[] to) {
        boolean known = i.has(Modifier.M8N8) && i.types().equals(List.of(ValueType.B16));
        boolean transposed = i.has(Modifier.TRANS);
        if (i.opcode() == Opcode.MOVMATRIX) {
            if (!known || !transposed || from.length != 1 || to.length != 1) {
                throw new UnsupportedOperationException(i.spelling());
            }
            return lanes -> transpose(lanes, from[0], to[0]);
        }
        int count = i.has(Modifier.X4) ? 4 : i.has(Modifier.X2) ? 2 : i.has(Modifier.X1) ? 1 : 0;
        boolean loads = i.opcode() == Opcode.LDMATRIX;
        boolean shared = i.space() == AddressSpace.SHARED;
        if (!known || !shared && i.space() != AddressSpace.GENERIC || from.length != (loads ? 1 : count + 1)
                || to.length != (loads ? count : 0) || count == 0) {
            throw new UnsupportedOperationException(i.spelling());
        }
        return lanes -> {
            for (int matrix = 0; matrix < count; matrix++) {
                if (loads) {
                    load(lanes, rows(lanes, matrix, from[0], shared), transposed, to[matrix]);
                } else {
                    store(lanes, rows(lanes, matrix, from[0], shared), transposed, from[matrix + 1]);
                }
            }
        };
    }

    /** Real addresses of a matrix's rows; 0 where the lane that should name it does not take part. */
    private static long[] rows(WarpStep.Lanes lanes, int matrix, int slot, boolean shared) {
        long[] rows = new long[ROWS];
        for (int row = 0; row < ROWS; row++) {
            int lane = matrix * ROWS + row;
            if (lanes.has(lane)) {
                long address = lanes.values()[lane][slot];
                lanes.block().running = lanes.first() + lane;
                if (shared) {
                    rows[row] = lanes.block().shared(address, ROW_BYTES);
                } else {
                    rows[row] = lanes.block().grid.map.checked(address, ROW_BYTES);
                }
            }
        }
        return rows;
    }

    private static void load(WarpStep.Lanes lanes, long[] rows, boolean transposed, int slot) {
        for (int lane = 0; lane < 32; lane++) {
            int major = lane >> 2;
            int minor = 2 * (lane & 3);
            lanes.values()[lane][slot] = transposed ? element(rows[minor], major) | element(rows[minor + 1], major) << 16
                    : element(rows[major], minor) | element(rows[major], minor + 1) << 16;
        }
    }

    private static long element(long row, int column) {
        return row == 0 ? 0 : RealMemory.getShort(row + 2L * column) & 0xFFFFL;
    }

    private static void store(WarpStep.Lanes lanes, long[] rows, boolean transposed, int slot) {
        for (int lane = 0; lane < 32; lane++) {
            if (lanes.has(lane)) {
                int major = lane >> 2;
                int minor = 2 * (lane & 3);
                long pair = lanes.values()[lane][slot];
                put(rows[transposed ? minor : major], transposed ? major : minor, pair);
                put(rows[transposed ? minor + 1 : major], transposed ? major : minor + 1, pair >> 16);
            }
        }
    }

    private static void put(long row, int column, long element) {
        if (row != 0) {
            RealMemory.putShort(row + 2L * column, (short) element);
        }
    }

    private static void transpose(WarpStep.Lanes lanes, int from, int to) {
        long[] given = new long[32];
        for (int lane = 0; lane < 32; lane++) {
            given[lane] = lanes.values()[lane][from];
        }
        for (int lane = 0; lane < 32; lane++) {
            int row = 2 * (lane & 3);
            int column = lane >> 2;
            lanes.values()[lane][to] = half(given, row, column) | half(given, row + 1, column) << 16;
        }
    }

    private static long half(long[] pairs, int row, int column) {
        return pairs[row * 4 + column / 2] >> column % 2 * 16 & 0xFFFF;
    }
}
