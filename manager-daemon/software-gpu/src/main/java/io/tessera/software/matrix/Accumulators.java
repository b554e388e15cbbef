package io.tessera.software.matrix;

import io.tessera.software.arithmetic.BinaryFormat;
import io.tessera.software.arithmetic.Rounding;
import io.tessera.software.program.ValueType;

/**
 * Matrices C and D of {@code mma}, m x 8 numbers by rows. A lane has two neighbours of a row, and if there are 16 rows, two more 8 rows below.
 *
 * @param rows 8 or 16
 */
record Accumulators(int rows) {
    private static final int COLUMNS = 8;
    private static final int CANONICAL_NAN = 0x7fffffff;

    /** Returns the place of the first of two neighbours. */
    private static int place(int lane, int pair) {
        return ((lane >> 2) + 8 * pair) * COLUMNS + (lane & 3) * 2;
    }

    double[] read(ValueType type, long[][] lanes, int[] slots) {
        double[] matrix = new double[rows * COLUMNS];
        for (int lane = 0; lane < 32; lane++) {
            long[] values = lanes[lane];
            for (int pair = 0; pair < rows / 8; pair++) {
                int to = place(lane, pair);
                if (type == ValueType.F16) {
                    Elements.read(type, values[slots[pair]], 2, matrix, to, 1);
                } else {
                    matrix[to] = number(type, values[slots[2 * pair]]);
                    matrix[to + 1] = number(type, values[slots[2 * pair + 1]]);
                }
            }
        }
        return matrix;
    }

    private static double number(ValueType type, long bits) {
        return switch (type) {
            case F32 -> Float.intBitsToFloat((int) bits);
            case F64 -> Double.longBitsToDouble(bits);
            default -> (int) bits;
        };
    }

    void write(ValueType type, boolean saturate, double[] matrix, long[][] lanes, int[] slots) {
        for (int lane = 0; lane < 32; lane++) {
            long[] values = lanes[lane];
            for (int pair = 0; pair < rows / 8; pair++) {
                int from = place(lane, pair);
                if (type == ValueType.F16) {
                    values[slots[pair]] = half(matrix[from]) | half(matrix[from + 1]) << 16;
                } else {
                    values[slots[2 * pair]] = bits(type, saturate, matrix[from]);
                    values[slots[2 * pair + 1]] = bits(type, saturate, matrix[from + 1]);
                }
            }
        }
    }

    private static long half(double value) {
        return BinaryFormat.F16.encode(value, Rounding.NEAREST_EVEN);
    }

    private static long bits(ValueType type, boolean saturate, double value) {
        return switch (type) {
            case F32 -> value != value ? CANONICAL_NAN : Integer.toUnsignedLong(Float.floatToRawIntBits((float) value));
            case F64 -> Double.doubleToRawLongBits(value);
            // A double holds every sum exactly; a cast to int clamps, one to long and then int cuts.
            default -> Integer.toUnsignedLong(saturate ? (int) value : (int) (long) value);
        };
    }
}
