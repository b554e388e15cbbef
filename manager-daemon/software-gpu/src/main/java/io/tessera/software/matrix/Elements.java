package io.tessera.software.matrix;

import io.tessera.software.arithmetic.BinaryFormat;
import io.tessera.software.program.ValueType;

/** Reads packed elements of a register as numbers. Stateless. */
final class Elements {
    /** Bits of {@code .f32} that {@code .tf32} has; a tensor core ignores the others. */
    private static final int TF32_BITS = 0xFFFFE000;

    private Elements() {
    }

    /**
     * Reads the elements of a register.
     *
     * @param word  the register
     * @param count number of elements, the first in the low bits
     * @param to    destination, from {@code at} on, {@code step} apart
     */
    static void read(ValueType type, long word, int count, double[] to, int at, int step) {
        switch (type) {
            case F16 -> {
                to[at] = Float.float16ToFloat((short) word);
                to[at + step] = Float.float16ToFloat((short) (word >> 16));
            }
            case BF16 -> {
                to[at] = Float.intBitsToFloat((int) word << 16);
                to[at + step] = Float.intBitsToFloat((int) word & 0xFFFF0000);
            }
            case TF32 -> to[at] = Float.intBitsToFloat((int) word & TF32_BITS);
            case F64 -> to[at] = Double.longBitsToDouble(word);
            default -> {
                for (int i = 0; i < count; i++) {
                    to[at + i * step] = element(type, (int) word >>> i * type.bits());
                }
            }
        }
    }

    /** Returns the low bits of a word. */
    private static double element(ValueType type, int word) {
        int unused = 32 - type.bits();
        return switch (type) {
            case E4M3 -> BinaryFormat.E4M3.decode(word);
            case E5M2 -> BinaryFormat.E5M2.decode(word);
            case S8, S4 -> word << unused >> unused;
            default -> word << unused >>> unused;
        };
    }
}
