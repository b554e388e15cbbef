package io.tessera.fuzz.generate;

import java.util.Random;

/**
 * An integer in the text of an instruction: as some compiler may write it, and as its type says that it reads. The assembler takes the low bits of
 * what is written, as many as the instruction's type has.
 *
 * @param written as it stands in the text with scopes
 * @param plain   as it stands in the text without
 */
record Literal(String written, String plain) {
    private static final long[] BORDERS = {0, 1, -1, -2, -16, 7, 8, 31, 32, 63, 64, 255, 256, 0xFFFF, 0x7FFF, 0x8000, 0x7FFF_FFFFL, 0x8000_0000L,
            0xFFFF_FFFFL, 0xFFFF_FFF0L, 0x1_0000_0000L, 0x1_0000_0010L, 0x1_FFFF_FFFFL, 0x7FFF_FFFF_FFFF_FFFFL, Long.MIN_VALUE,
            0xFFFF_FFFF_8000_0000L,
            0xFFFF_FFFF_7FFF_FFFFL};

    /** A number of a type, written in one of the ways that mean it. */
    static Literal of(Random random, long value, int bits, boolean signed) {
        long plain = canonical(value, bits, signed);
        String text = signed || bits < 64 ? Long.toString(plain) : Long.toUnsignedString(plain);
        if (bits < 32) {
            return new Literal(text, text);
        }
        String written = switch (random.nextInt(8)) {
            case 0 -> "0x" + Long.toHexString(bits == 64 ? plain : plain & 0xFFFF_FFFFL);
            case 1 -> Long.toString(canonical(value, bits, true));
            case 2 -> bits == 64 ? text : Long.toString(plain & 0xFFFF_FFFFL);
            case 3 -> bits == 64 ? text : "0x" + Long.toHexString(canonical(value, bits, true));
            case 4 -> bits == 64 ? text : "0x" + Long.toHexString(plain & 0xFFFF_FFFFL | (long) random.nextInt(4) << 32);
            default -> text;
        };
        return new Literal(written, text);
    }

    /** A number at the border of some type, or beyond. */
    static long border(Random random) {
        return BORDERS[random.nextInt(BORDERS.length)] + (random.nextInt(4) == 0 ? random.nextInt(5) - 2 : 0);
    }

    /** The value that a type of this width makes of a number. */
    static long canonical(long value, int bits, boolean signed) {
        if (bits == 64) {
            return value;
        }
        long low = value & (1L << bits) - 1;
        return signed && low >>> bits - 1 != 0 ? low - (1L << bits) : low;
    }
}
