package io.tessera.software.matrix;

import io.tessera.software.program.LoweredInstruction;
import io.tessera.software.program.Modifier;
import io.tessera.software.program.ValueType;
import java.util.Set;

/**
 * A form of {@code mma}: the matrix elements in a lane's registers (PTX ISA, "Matrix Fragments for mma"), and the computation. All forms but that of
 * {@code .f64} multiply and add in double precision, where products are exact, and round once at the end; a tensor core cuts its sums to some bits below the
 * largest term, so its last bit may differ.
 *
 * @param shape    extents
 * @param d        type of D
 * @param a        type of A's elements
 * @param b        type of B's elements
 * @param c        type of C
 * @param saturate whether integers are clamped
 * @param differs  of {@code .b1}: elements are combined by xor, not by and
 */
record MultiplyAdd(MatrixShape shape, ValueType d, ValueType a, ValueType b, ValueType c, boolean saturate,
        boolean differs) {
    private static final int COLUMNS = 8;
    private static final Set<ValueType> BYTES = Set.of(ValueType.S8, ValueType.U8);
    private static final Set<ValueType> NIBBLES = Set.of(ValueType.S4, ValueType.U4);
    private static final Set<ValueType> SMALL_FLOATS = Set.of(ValueType.E4M3, ValueType.E5M2);

    /**
     * Returns the form of an instruction.
     *
     * @throws UnsupportedOperationException if it is none that is here
     */
    static MultiplyAdd of(LoweredInstruction instruction) {
        MatrixShape shape = MatrixShape.of(instruction);
        boolean laidOut = instruction.has(Modifier.ROW) && instruction.has(Modifier.COL);
        if (shape == null || instruction.types().size() != 4 || !laidOut || shape.n() != COLUMNS) {
            throw new UnsupportedOperationException(instruction.spelling());
        }
        boolean bits = instruction.types().get(1) == ValueType.B1;
        MultiplyAdd form = new MultiplyAdd(shape, instruction.types().get(0), instruction.types().get(1),
                instruction.types().get(2), instruction.types().get(3), instruction.has(Modifier.SATFINITE),
                instruction.has(Modifier.XOR));
        int arguments = form.registersOfA() + form.registersOfB() + form.registers(form.c);
        boolean combined = bits == (instruction.has(Modifier.POPC)
                && (instruction.has(Modifier.XOR) || instruction.has(Modifier.AND)));
        if (!combined || !form.exists() || instruction.arguments().size() != arguments
                || instruction.results().size() != form.registers(form.d)) {
            throw new UnsupportedOperationException(instruction.spelling());
        }
        return form;
    }

    private boolean exists() {
        boolean integers = d == ValueType.S32 && c == ValueType.S32;
        boolean halves = (d == ValueType.F16 || d == ValueType.F32) && (c == ValueType.F16 || c == ValueType.F32);
        boolean singles = d == ValueType.F32 && c == ValueType.F32;
        int m = shape.m();
        int k = shape.k();
        boolean tall = m == 16;
        return switch (a) {
            case F16 -> a == b && halves && tall && (k == 8 || k == 16);
            case BF16 -> a == b && singles && tall && (k == 8 || k == 16);
            case TF32 -> a == b && singles && tall && (k == 4 || k == 8);
            case F64 -> a == b && c == a && d == a && (m == 8 && k == 4 || tall && (k == 4 || k == 8 || k == 16));
            case S8, U8 -> BYTES.contains(b) && integers && (m == 8 && k == 16 || tall && (k == 16 || k == 32));
            case S4, U4 -> NIBBLES.contains(b) && integers && (m == 8 && k == 32 || tall && (k == 32 || k == 64));
            case B1 -> a == b && integers && (m == 8 && k == 128 || tall && (k == 128 || k == 256));
            case E4M3, E5M2 -> SMALL_FLOATS.contains(b) && halves && tall && (k == 16 || k == 32);
            default -> false;
        };
    }

    /** Elements of A or B in a register. */
    int packed() {
        return a == ValueType.F64 ? 1 : 32 / a.bits();
    }

    int registersOfA() {
        return shape.m() * shape.k() / 32 / packed();
    }

    int registersOfB() {
        return shape.k() * COLUMNS / 32 / packed();
    }

    /** Registers of C or D. */
    private int registers(ValueType type) {
        return shape.m() * COLUMNS / 32 / (type == ValueType.F16 ? 2 : 1);
    }

    /** Returns the instruction with its registers' slots, and the numbers of its fragments in {@link WarpStep.Lanes#decoded}. */
    WarpStep step(int[] ofA, int fragmentA, int[] ofB, int fragmentB, int[] ofC, int[] ofD) {
        Accumulators accumulators = new Accumulators(shape.m());
        return lanes -> {
            double[] left = lanes.decoded()[fragmentA];
            if (left == null) {
                left = readA(lanes.values(), ofA);
                lanes.decoded()[fragmentA] = left;
            }
            double[] right = lanes.decoded()[fragmentB];
            if (right == null) {
                right = readB(lanes.values(), ofB);
                lanes.decoded()[fragmentB] = right;
            }
            double[] sums = accumulators.read(c, lanes.values(), ofC);
            if (a == ValueType.F64) {
                addFused(left, right, sums);
            } else if (differs) {
                countDifferences(left, right, sums);
            } else {
                addProducts(left, right, sums);
            }
            accumulators.write(d, saturate, sums, lanes.values(), ofD);
        };
    }

    /** A by rows. Registers go through 8 rows at a time, then columns. */
    private double[] readA(long[][] lanes, int[] slots) {
        int packed = packed();
        int halves = shape.m() / 8;
        double[] matrix = new double[shape.m() * shape.k()];
        for (int r = 0; r < slots.length; r++) {
            int left = r / halves * 4 * packed;
            for (int lane = 0; lane < 32; lane++) {
                int row = (lane >> 2) + 8 * (r % halves);
                Elements.read(a, lanes[lane][slots[r]], packed, matrix, row * shape.k() + left + (lane & 3) * packed, 1);
            }
        }
        return matrix;
    }

    /** B by rows. */
    private double[] readB(long[][] lanes, int[] slots) {
        int packed = packed();
        double[] matrix = new double[shape.k() * COLUMNS];
        for (int r = 0; r < slots.length; r++) {
            for (int lane = 0; lane < 32; lane++) {
                int row = r * 4 * packed + (lane & 3) * packed;
                Elements.read(b, lanes[lane][slots[r]], packed, matrix, row * COLUMNS + (lane >> 2), COLUMNS);
            }
        }
        return matrix;
    }

    private void addProducts(double[] left, double[] right, double[] sums) {
        int k = shape.k();
        for (int row = 0; row < shape.m(); row++) {
            int to = row * COLUMNS;
            double s0 = sums[to];
            double s1 = sums[to + 1];
            double s2 = sums[to + 2];
            double s3 = sums[to + 3];
            double s4 = sums[to + 4];
            double s5 = sums[to + 5];
            double s6 = sums[to + 6];
            double s7 = sums[to + 7];
            for (int i = 0; i < k; i++) {
                double x = left[row * k + i];
                int from = i * COLUMNS;
                s0 += x * right[from];
                s1 += x * right[from + 1];
                s2 += x * right[from + 2];
                s3 += x * right[from + 3];
                s4 += x * right[from + 4];
                s5 += x * right[from + 5];
                s6 += x * right[from + 6];
                s7 += x * right[from + 7];
            }
            sums[to] = s0;
            sums[to + 1] = s1;
            sums[to + 2] = s2;
            sums[to + 3] = s3;
            sums[to + 4] = s4;
            sums[to + 5] = s5;
            sums[to + 6] = s6;
            sums[to + 7] = s7;
        }
    }

    /** As {@code .f64} has it: each sum is a chain of fused operations. */
    private void addFused(double[] left, double[] right, double[] sums) {
        for (int at = 0; at < sums.length; at++) {
            int row = at / COLUMNS * shape.k();
            for (int i = 0; i < shape.k(); i++) {
                sums[at] = Math.fma(left[row + i], right[i * COLUMNS + at % COLUMNS], sums[at]);
            }
        }
    }

    private void countDifferences(double[] left, double[] right, double[] sums) {
        for (int at = 0; at < sums.length; at++) {
            int row = at / COLUMNS * shape.k();
            for (int i = 0; i < shape.k(); i++) {
                sums[at] += left[row + i] == right[i * COLUMNS + at % COLUMNS] ? 0 : 1;
            }
        }
    }
}
