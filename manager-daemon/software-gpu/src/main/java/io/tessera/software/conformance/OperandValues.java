package io.tessera.software.conformance;

import io.tessera.software.program.ValueType;
import java.util.Random;

/** Values of operands: the special ones of each type in all combinations first, then random ones. Stateless. */
final class OperandValues {
    private static final long[] INTEGERS = {0, 1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 127, 128, 255, 256,
            0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFFFF, 0x800000, 0x7FFFFFFF, 0x80000000L, 0xFFFFFFFFL, 0x100000000L,
            0x5555555555555555L, 0xAAAAAAAAAAAAAAAAL, Long.MAX_VALUE, Long.MIN_VALUE, -1, -2, -3, -7, -8, -128, -32768};
    private static final int[] SINGLES = {0, 0x80000000, 1, 0x80000001, 0x007FFFFF, 0x00800000, 0x80800000, 0x3F800000,
            0xBF800000, 0x3F800001, 0x3F7FFFFF, 0x40000000, 0x3F000000, 0xBF000000, 0x3FC00000, 0x40200000, 0xC0200000,
            0x4B000000, 0x4B7FFFFF, 0x4B800001, 0x4EFFFFFF, 0x4F000000, 0xCF000000, 0x4F7FFFFF, 0x5F000000, 0xDF000001,
            0x477FE000, 0x477FF000, 0x33000000, 0x38800000, 0x387FC000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000,
            0x7FC00000, 0x7F800001, 0xFFC12345, 0x40490FDB, 0xC2C80000};
    private static final long[] DOUBLES = {0, 1L << 63, 1, 0x000FFFFFFFFFFFFFL, 0x0010000000000000L,
            0x3FF0000000000000L, 0xBFF0000000000000L, 0x3FF0000000000001L, 0x3FEFFFFFFFFFFFFFL, 0x4000000000000000L,
            0x3FE0000000000000L, 0xBFE0000000000000L, 0x4004000000000000L, 0x41DFFFFFFFC00000L, 0x41E0000000000000L,
            0xC1E0000000000000L, 0x41EFFFFFFFE00000L, 0x43E0000000000000L, 0xC3E0000000000001L, 0x43F0000000000000L,
            0x3810000000000000L, 0x380FFFFFFFFFFFFFL, 0x36A0000000000000L, 0x47EFFFFFE0000000L, 0x47EFFFFFF0000000L,
            0x40EFFE0000000000L, 0x3E60000000000000L, 0x7FEFFFFFFFFFFFFFL, 0xFFEFFFFFFFFFFFFFL, 0x7FF0000000000000L,
            0xFFF0000000000000L, 0x7FF8000000000000L, 0x7FF0000000000001L, 0x400921FB54442D18L};
    private static final int[] HALVES = {0, 0x8000, 1, 0x03FF, 0x0400, 0x8400, 0x3C00, 0xBC00, 0x3C01, 0x3BFF, 0x4000,
            0x3800, 0xB800, 0x4100, 0x6400, 0x77FF, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0x7C01, 0xFE12, 0x4248};
    private static final int[] BRAINS = {0, 0x8000, 1, 0x007F, 0x0080, 0x8080, 0x3F80, 0xBF80, 0x3F81, 0x3F7F, 0x4000,
            0x3F00, 0xBF00, 0x4020, 0x4B00, 0x4EFF, 0x4F00, 0x5F00, 0x7F7F, 0xFF7F, 0x7F80, 0xFF80, 0x7FC0, 0x7F81};

    private OperandValues() {
    }

    /**
     * Returns a value, raw bits, cut to the type's width.
     *
     * @param record  number of the record
     * @param source  number of the source
     * @param sources number of all sources
     */
    static long draw(ValueType type, int record, int source, int sources, Random random) {
        int count = specials(type);
        boolean all = sources == 1 ? record < count : sources == 2 && record < count * count && record < 384;
        long value;
        if (all) {
            // Of two sources the second one changes faster; a stride that is coprime to the count mixes the first.
            value = special(type, source == 0 && sources == 2 ? (record / count * 7 + record) % count
                    : record % count);
        } else {
            value = random.nextInt(3) == 0 ? special(type, random.nextInt(count)) : random(type, random);
        }
        return type.bits() >= 64 ? value : value & (1L << type.bits()) - 1;
    }

    private static int specials(ValueType type) {
        return switch (type.element()) {
            case PRED -> 2;
            case F32, TF32 -> SINGLES.length;
            case F64 -> DOUBLES.length;
            case F16 -> HALVES.length;
            case BF16 -> BRAINS.length;
            default -> INTEGERS.length;
        };
    }

    private static long special(ValueType type, int number) {
        if (type.isPacked() && type.bits() == 32) {
            int other = (number * 5 + 3) % specials(type);
            return special(type.element(), number) & 0xFFFF | special(type.element(), other) << 16;
        }
        return switch (type) {
            case PRED -> number;
            case F32, TF32 -> SINGLES[number];
            case F64 -> DOUBLES[number];
            case F16 -> HALVES[number];
            case BF16 -> BRAINS[number];
            default -> INTEGERS[number];
        };
    }

    /** Random bits; floats mostly of moderate size, since operations on random exponents hardly interact. */
    private static long random(ValueType type, Random random) {
        boolean moderate = random.nextInt(4) != 0;
        return switch (type) {
            case F32, TF32 -> moderate ? Float.floatToRawIntBits((float) (random.nextGaussian() * 10))
                    : random.nextInt();
            case F64 -> moderate ? Double.doubleToRawLongBits(random.nextGaussian() * 10) : random.nextLong();
            case F16 -> moderate ? Float.floatToFloat16((float) random.nextGaussian() * 10) : random.nextInt();
            case BF16 -> moderate ? Float.floatToRawIntBits((float) random.nextGaussian() * 10) >>> 16
                    : random.nextInt();
            default -> moderate ? random.nextLong() : random.nextLong() >> random.nextInt(64);
        };
    }
}
