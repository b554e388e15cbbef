package io.tessera.software.arithmetic;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** Bit operations against the PTX ISA's definitions, bit by bit. */
class BitOperationsTest {
    private static final int CASES = 10000;

    private final Operands operands = new Operands();

    private static long bit(long value, int place) {
        return value >>> place & 1;
    }

    /** Position and length: modulo 256 for 32 bits, whole for 64. */
    private static long count(int operand, int width) {
        return width == 32 ? operand & 0xff : Integer.toUnsignedLong(operand);
    }

    private static long extract(long a, int position, int length, boolean signed, int width) {
        long from = count(position, width);
        long count = count(length, width);
        long sign = !signed || count == 0 ? 0 : bit(a, (int) Math.min(from + count - 1, width - 1));
        long result = 0;
        for (int i = 0; i < width; i++) {
            result |= (i < count && from + i < width ? bit(a, (int) from + i) : sign) << i;
        }
        return result;
    }

    private static long insert(long a, long b, int position, int length, int width) {
        long result = b;
        for (int i = 0; i < count(length, width) && count(position, width) + i < width; i++) {
            int place = (int) count(position, width) + i;
            result = result & ~(1L << place) | bit(a, i) << place;
        }
        return result;
    }

    @Test
    void fields() {
        for (int i = 0; i < CASES; i++) {
            long a = operands.nextLong();
            long b = operands.nextLong();
            int position = operands.below(4) == 0 ? operands.nextInt() : operands.below(70);
            int length = operands.below(4) == 0 ? operands.nextInt() : operands.below(70);
            String what = Long.toHexString(a) + " " + position + " " + length + ", seed " + Operands.SEED;
            int low = (int) a;
            assertEquals((int) extract(low & 0xffffffffL, position, length, false, 32),
                    BitOperations.extractU32(low, position, length), what);
            assertEquals((int) extract(low & 0xffffffffL, position, length, true, 32),
                    BitOperations.extractS32(low, position, length), what);
            assertEquals(extract(a, position, length, false, 64), BitOperations.extractU64(a, position, length), what);
            assertEquals(extract(a, position, length, true, 64), BitOperations.extractS64(a, position, length), what);
            assertEquals((int) insert(a, b, position, length, 32),
                    BitOperations.insert32(low, (int) b, position, length), what);
            assertEquals(insert(a, b, position, length, 64), BitOperations.insert64(a, b, position, length), what);
        }
    }

    @Test
    void shifts() {
        for (int i = 0; i < CASES; i++) {
            long a = operands.nextLong();
            int low = (int) a;
            int amount = operands.below(3) == 0 ? operands.nextInt() : operands.below(70);
            long clamped = Math.min(Integer.toUnsignedLong(amount), 64);
            int wide = (int) clamped;
            int narrow = Math.min(wide, 32);
            assertEquals(narrow == 32 ? 0 : low << narrow, BitOperations.shl32(low, amount));
            assertEquals(narrow == 32 ? 0 : low >>> narrow, BitOperations.shrU32(low, amount));
            assertEquals((int) ((long) low >> narrow), BitOperations.shrS32(low, amount));
            assertEquals(wide == 64 ? 0 : a << wide, BitOperations.shl64(a, amount));
            assertEquals(wide == 64 ? 0 : a >>> wide, BitOperations.shrU64(a, amount));
            assertEquals(a >> Math.min(wide, 63), BitOperations.shrS64(a, amount));
            assertEquals((short) low >> Math.min(wide, 31) & 0xffff, BitOperations.shrS16(low, amount));
            assertEquals((low & 0xffff) >>> Math.min(wide, 31), BitOperations.shrU16(low, amount));
            int high = (int) (a >>> 32);
            int wrap = amount & 31;
            assertEquals(wrap == 0 ? high : high << wrap | low >>> 32 - wrap,
                    BitOperations.funnelLeftWrap(low, high, amount));
            assertEquals(wrap == 0 ? low : high << 32 - wrap | low >>> wrap,
                    BitOperations.funnelRightWrap(low, high, amount));
            assertEquals(narrow == 32 ? low : narrow == 0 ? high : high << narrow | low >>> 32 - narrow,
                    BitOperations.funnelLeftClamp(low, high, amount));
            assertEquals(narrow == 32 ? high : narrow == 0 ? low : high << 32 - narrow | low >>> narrow,
                    BitOperations.funnelRightClamp(low, high, amount));
        }
    }

    @Test
    void tablesAndSearches() {
        for (int i = 0; i < CASES; i++) {
            int a = operands.nextInt();
            int b = operands.nextInt();
            int c = operands.nextInt();
            int table = operands.below(256);
            int expected = 0;
            for (int k = 0; k < 32; k++) {
                int row = (int) (bit(a, k) << 2 | bit(b, k) << 1 | bit(c, k));
                expected |= (table >>> row & 1) << k;
            }
            assertEquals(expected, BitOperations.lop3(a, b, c, table));
            int base = operands.below(32);
            int offset = operands.below(9) - 4;
            assertEquals(findNthSet(a, base, offset), BitOperations.findNthSet(a, base, offset));
        }
        assertEquals(-1, BitOperations.findU32(0));
        assertEquals(-1, BitOperations.findS32(-1));
        assertEquals(30, BitOperations.findS32(Integer.MIN_VALUE));
        assertEquals(63, BitOperations.findU64(-1));
        assertEquals(0, BitOperations.shiftAmount(31, 32));
        assertEquals(-1, BitOperations.shiftAmount(-1, 32));
    }

    /** Returns the PTX ISA's pseudo-code. */
    private static int findNthSet(int mask, int base, int offset) {
        if (offset == 0) {
            return bit(mask, base) == 1 ? base : -1;
        }
        int position = base;
        int count = Math.abs(offset) - 1;
        int step = offset > 0 ? 1 : -1;
        while (position >= 0 && position < 32) {
            if (bit(mask, position) == 1) {
                if (count == 0) {
                    return position;
                }
                count--;
            }
            position += step;
        }
        return -1;
    }

    @Test
    void masksAndExtensions() {
        assertEquals(0x000000f0, BitOperations.maskClamp(4, 4));
        assertEquals(0xfffffff0, BitOperations.maskClamp(4, 40));
        assertEquals(0, BitOperations.maskClamp(32, 5));
        assertEquals(-1, BitOperations.maskClamp(0, 32));
        assertEquals(0, BitOperations.maskWrap(0, 32));
        assertEquals(0x2, BitOperations.maskWrap(33, 1));
        assertEquals(-1, BitOperations.signExtendClamp(0xff, 8));
        assertEquals(0, BitOperations.signExtendClamp(0xff, 0));
        assertEquals(0x12345678, BitOperations.signExtendClamp(0x12345678, 99));
        assertEquals(-1, BitOperations.signExtendWrap(1, 33));
        assertEquals(0x78, BitOperations.zeroExtendClamp(0x12345678, 8));
    }

    @Test
    void permutations() {
        int a = 0x83020100;
        int b = 0x87868504;
        assertEquals(0x87868504, Permutation.index(a, b, 0x7654));
        assertEquals(0xff00ff00, Permutation.index(a, b, 0xf8b0) & 0xff00ff00 | 0);
        assertEquals(0x04830201, Permutation.forward(a, b, 1));
        assertEquals(0x86870001, Permutation.backward(a, b, 1));
        assertEquals(0x02020202, Permutation.replicate8(a, b, 2));
        assertEquals(0x83020202, Permutation.edgeClampLeft(a, b, 2));
        assertEquals(0x01010100, Permutation.edgeClampRight(a, b, 1));
        assertEquals(0x83028302, Permutation.replicate16(a, b, 1));
    }
}
