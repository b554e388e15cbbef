package io.tessera.software.arithmetic;

/**
 * Shifts, bit fields, counts and permutations. Shift amounts are unsigned; {@code shl} and {@code shr} clamp them to
 * the width of the operand.
 */
public final class BitOperations {
    private BitOperations() {
    }

    /** {@code shl.b32}. */
    public static int shl32(int a, int amount) {
        return Integer.compareUnsigned(amount, 31) > 0 ? 0 : a << amount;
    }

    /** {@code shl.b64}. */
    public static long shl64(long a, int amount) {
        return Integer.compareUnsigned(amount, 63) > 0 ? 0 : a << amount;
    }

    /** {@code shl.b16}. */
    public static int shl16(int a, int amount) {
        return shl32(a, amount) & 0xffff;
    }

    /** {@code shr.u32}, {@code shr.b32}. */
    public static int shrU32(int a, int amount) {
        return Integer.compareUnsigned(amount, 31) > 0 ? 0 : a >>> amount;
    }

    /** {@code shr.s32}. */
    public static int shrS32(int a, int amount) {
        return a >> (Integer.compareUnsigned(amount, 31) > 0 ? 31 : amount);
    }

    /** {@code shr.u64}, {@code shr.b64}. */
    public static long shrU64(long a, int amount) {
        return Integer.compareUnsigned(amount, 63) > 0 ? 0 : a >>> amount;
    }

    /** {@code shr.s64}. */
    public static long shrS64(long a, int amount) {
        return a >> (Integer.compareUnsigned(amount, 63) > 0 ? 63 : amount);
    }

    /** {@code shr.u16}, {@code shr.b16}. */
    public static int shrU16(int a, int amount) {
        return shrU32(a & 0xffff, amount);
    }

    /** {@code shr.s16}. */
    public static int shrS16(int a, int amount) {
        return shrS32((short) a, amount) & 0xffff;
    }

    private static long funnel(int low, int high) {
        return low & 0xffffffffL | (long) high << 32;
    }

    /** {@code shf.l.wrap}: upper half of (high:low) shifted left by amount modulo 32. */
    public static int funnelLeftWrap(int low, int high, int amount) {
        return (int) (funnel(low, high) << (amount & 31) >>> 32);
    }

    /** {@code shf.l.clamp}: upper half of (high:low) shifted left by at most 32. */
    public static int funnelLeftClamp(int low, int high, int amount) {
        return (int) (funnel(low, high) << IntegerArithmetic.minU32(amount, 32) >>> 32);
    }

    /** {@code shf.r.wrap}: lower half of (high:low) shifted right by amount modulo 32. */
    public static int funnelRightWrap(int low, int high, int amount) {
        return (int) (funnel(low, high) >>> (amount & 31));
    }

    /** {@code shf.r.clamp}: lower half of (high:low) shifted right by at most 32. */
    public static int funnelRightClamp(int low, int high, int amount) {
        return (int) (funnel(low, high) >>> IntegerArithmetic.minU32(amount, 32));
    }

    /** {@code bfe.u32}: position and length count modulo 256. */
    public static int extractU32(int a, int position, int length) {
        int from = position & 0xff;
        int bits = length & 0xff;
        if (from > 31 || bits == 0) {
            return 0;
        }
        return bits >= 32 ? a >>> from : a >>> from & (1 << bits) - 1;
    }

    /** {@code bfe.s32}: the sign bit is that of the field, or bit 31 if the field reaches beyond. */
    public static int extractS32(int a, int position, int length) {
        // Above bit 31 of the widened operand lie copies of it, as the definition wants them.
        return (int) extractS64(a, position & 0xff, length & 0xff);
    }

    /**
     * {@code bfe.u64}: position and length count whole, unsigned. The PTX ISA wants them below 256; beyond, sm_90
     * hardware takes only the forms of 32 bits modulo 256.
     */
    public static long extractU64(long a, int position, int length) {
        int from = IntegerArithmetic.minU32(position, 64);
        int bits = IntegerArithmetic.minU32(length, 64);
        if (from == 64 || bits == 0) {
            return 0;
        }
        return bits == 64 ? a >>> from : a >>> from & (1L << bits) - 1;
    }

    /**
     * {@code bfe.s64}: the sign bit is that of the field, or bit 63 if the field reaches beyond; position and length
     * count as in {@link #extractU64}.
     */
    public static long extractS64(long a, int position, int length) {
        int from = IntegerArithmetic.minU32(position, 64);
        if (length == 0) {
            return 0;
        }
        if (from == 64) {
            return a >> 63;
        }
        int inside = IntegerArithmetic.minU32(length, 64 - from);
        return a << 64 - from - inside >> 64 - inside;
    }

    /** {@code bfi.b32 f, a, b, c, d}: b with the low bits of a at a position; both counts modulo 256. */
    public static int insert32(int a, int b, int position, int length) {
        int from = position & 0xff;
        int bits = length & 0xff;
        if (from > 31 || bits == 0) {
            return b;
        }
        int mask = (bits >= 32 ? -1 : (1 << bits) - 1) << from;
        return b & ~mask | a << from & mask;
    }

    /** {@code bfi.b64}: position and length count as in {@link #extractU64}. */
    public static long insert64(long a, long b, int position, int length) {
        int from = IntegerArithmetic.minU32(position, 64);
        int bits = IntegerArithmetic.minU32(length, 64);
        if (from == 64 || bits == 0) {
            return b;
        }
        long mask = (bits == 64 ? -1 : (1L << bits) - 1) << from;
        return b & ~mask | a << from & mask;
    }

    /** {@code bfind.u32}: position of the highest one, or all ones. */
    public static int findU32(int a) {
        return 31 - Integer.numberOfLeadingZeros(a);
    }

    /** {@code bfind.s32}: position of the highest bit that differs from the sign, or all ones. */
    public static int findS32(int a) {
        return findU32(a < 0 ? ~a : a);
    }

    /** {@code bfind.u64}. */
    public static int findU64(long a) {
        return 63 - Long.numberOfLeadingZeros(a);
    }

    /** {@code bfind.s64}. */
    public static int findS64(long a) {
        return findU64(a < 0 ? ~a : a);
    }

    /** {@code bfind.shiftamt} from the position that {@code bfind} gave: how far to shift left to reach the top. */
    public static int shiftAmount(int position, int width) {
        return position == -1 ? -1 : width - 1 - position;
    }

    /** {@code fns.b32}: position of the n-th set bit from a base, upwards for n > 0, downwards for n < 0; or -1. */
    public static int findNthSet(int mask, int base, int offset) {
        if (offset == 0) {
            return base >>> 5 == 0 && (mask >>> base & 1) != 0 ? base : -1;
        }
        int step = offset > 0 ? 1 : -1;
        // The lowest offset has no positive counterpart, but no mask has that many bits either.
        int wanted = Math.abs(Math.max(offset, -33));
        for (int position = base; position >= 0 && position < 32; position += step) {
            if ((mask >>> position & 1) != 0 && --wanted == 0) {
                return position;
            }
        }
        return -1;
    }

    /** {@code lop3.b32} with a truth table of 8 bits. */
    public static int lop3(int a, int b, int c, int table) {
        int result = 0;
        for (int row = 0; row < 8; row++) {
            if ((table >>> row & 1) != 0) {
                result |= ((row & 4) != 0 ? a : ~a) & ((row & 2) != 0 ? b : ~b) & ((row & 1) != 0 ? c : ~c);
            }
        }
        return result;
    }

    /** {@code bmsk.clamp.b32}: ones from a position on. */
    public static int maskClamp(int position, int length) {
        int from = IntegerArithmetic.minU32(position, 32);
        int to = from + IntegerArithmetic.minU32(length, 32 - from);
        return (int) ((1L << to) - (1L << from));
    }

    /** {@code bmsk.wrap.b32}: position and length modulo 32. */
    public static int maskWrap(int position, int length) {
        return maskClamp(position & 31, length & 31);
    }

    /** {@code szext.clamp.s32}: keeps the low bits and extends their sign; 32 bits or more keep everything. */
    public static int signExtendClamp(int a, int bits) {
        return signExtend(a, IntegerArithmetic.minU32(bits, 32));
    }

    /** {@code szext.wrap.s32}: as clamp, with the number of bits modulo 32. */
    public static int signExtendWrap(int a, int bits) {
        return signExtend(a, bits & 31);
    }

    /** {@code szext.clamp.u32}: keeps the low bits. */
    public static int zeroExtendClamp(int a, int bits) {
        return extractU32(a, 0, IntegerArithmetic.minU32(bits, 32));
    }

    /** {@code szext.wrap.u32}: keeps the low bits, their number modulo 32. */
    public static int zeroExtendWrap(int a, int bits) {
        return extractU32(a, 0, bits & 31);
    }

    private static int signExtend(int a, int bits) {
        return bits == 0 ? 0 : a << 32 - bits >> 32 - bits;
    }
}
