package io.tessera.software.arithmetic;

/**
 * Integer arithmetic that is more than one Java operator. Where the PTX ISA leaves a result open, it is the hardware's:
 * a division or remainder by zero gives all ones, signed or not; the lowest number divided by -1 gives itself, with
 * remainder 0. 16-bit functions take the low 16 bits and return them zero-extended.
 */
public final class IntegerArithmetic {
    private IntegerArithmetic() {
    }

    private static int clamp(long value) {
        return Math.clamp(value, Integer.MIN_VALUE, Integer.MAX_VALUE);
    }

    /** {@code add.sat.s32}. */
    public static int addSat(int a, int b) {
        return clamp((long) a + b);
    }

    /** {@code sub.sat.s32}. */
    public static int subSat(int a, int b) {
        return clamp((long) a - b);
    }

    /** {@code add.s16x2}, {@code add.u16x2}: halves wrap around. */
    public static int addPacked(int a, int b) {
        return PackedArithmetic.pack(a + b, (a >>> 16) + (b >>> 16));
    }

    /** {@code mul.hi.s32}. */
    public static int mulHiS32(int a, int b) {
        return (int) ((long) a * b >> 32);
    }

    /** {@code mul.hi.u32}. */
    public static int mulHiU32(int a, int b) {
        return (int) ((a & 0xffffffffL) * (b & 0xffffffffL) >>> 32);
    }

    /** {@code mul.wide.u32}. */
    public static long mulWideU32(int a, int b) {
        return (a & 0xffffffffL) * (b & 0xffffffffL);
    }

    /** {@code mul.wide.s32}. */
    public static long mulWideS32(int a, int b) {
        return (long) a * b;
    }

    /** {@code mul.hi.s16}. */
    public static int mulHiS16(int a, int b) {
        return ((short) a * (short) b >> 16) & 0xffff;
    }

    /** {@code mul.hi.u16}. */
    public static int mulHiU16(int a, int b) {
        return (a & 0xffff) * (b & 0xffff) >>> 16;
    }

    /** {@code mul.wide.s16}. */
    public static int mulWideS16(int a, int b) {
        return (short) a * (short) b;
    }

    /** {@code mul.wide.u16}. */
    public static int mulWideU16(int a, int b) {
        return (a & 0xffff) * (b & 0xffff);
    }

    /** {@code mad.hi.sat.s32}. */
    public static int madHiSat(int a, int b, int c) {
        return clamp(((long) a * b >> 32) + c);
    }

    /** Returns the 48 bit product of 24 bit signed operands. */
    private static long product24Signed(int a, int b) {
        return (long) (a << 8 >> 8) * (b << 8 >> 8);
    }

    private static long product24Unsigned(int a, int b) {
        return (long) (a & 0xffffff) * (b & 0xffffff);
    }

    /** {@code mul24.lo.s32}. */
    public static int mul24LoS32(int a, int b) {
        return (int) product24Signed(a, b);
    }

    /** {@code mul24.lo.u32}. */
    public static int mul24LoU32(int a, int b) {
        return (int) product24Unsigned(a, b);
    }

    /** {@code mul24.hi.s32}: bits 16 to 47 of the product. */
    public static int mul24HiS32(int a, int b) {
        return (int) (product24Signed(a, b) >> 16);
    }

    /** {@code mul24.hi.u32}: bits 16 to 47 of the product. */
    public static int mul24HiU32(int a, int b) {
        return (int) (product24Unsigned(a, b) >>> 16);
    }

    /** {@code mad24.hi.sat.s32}. */
    public static int mad24HiSat(int a, int b, int c) {
        return clamp((product24Signed(a, b) >> 16) + c);
    }

    /** {@code div.s32}. */
    public static int divS32(int a, int b) {
        return b == 0 ? -1 : a / b;
    }

    /** {@code div.u32}. */
    public static int divU32(int a, int b) {
        return b == 0 ? -1 : Integer.divideUnsigned(a, b);
    }

    /** {@code div.s64}. */
    public static long divS64(long a, long b) {
        return b == 0 ? -1 : a / b;
    }

    /** {@code div.u64}. */
    public static long divU64(long a, long b) {
        return b == 0 ? -1 : Long.divideUnsigned(a, b);
    }

    /** {@code div.s16}. */
    public static int divS16(int a, int b) {
        return divS32((short) a, (short) b) & 0xffff;
    }

    /** {@code div.u16}. */
    public static int divU16(int a, int b) {
        return divU32(a & 0xffff, b & 0xffff) & 0xffff;
    }

    /** {@code rem.s32}: the sign of the dividend. */
    public static int remS32(int a, int b) {
        return b == 0 ? -1 : a % b;
    }

    /** {@code rem.u32}. */
    public static int remU32(int a, int b) {
        return b == 0 ? -1 : Integer.remainderUnsigned(a, b);
    }

    /** {@code rem.s64}: the sign of the dividend. */
    public static long remS64(long a, long b) {
        return b == 0 ? -1 : a % b;
    }

    /** {@code rem.u64}. */
    public static long remU64(long a, long b) {
        return b == 0 ? -1 : Long.remainderUnsigned(a, b);
    }

    /** {@code rem.s16}. */
    public static int remS16(int a, int b) {
        return remS32((short) a, (short) b) & 0xffff;
    }

    /** {@code rem.u16}. */
    public static int remU16(int a, int b) {
        return remU32(a & 0xffff, b & 0xffff) & 0xffff;
    }

    /** {@code min.u32}. */
    public static int minU32(int a, int b) {
        return Integer.compareUnsigned(a, b) <= 0 ? a : b;
    }

    /** {@code max.u32}. */
    public static int maxU32(int a, int b) {
        return Integer.compareUnsigned(a, b) >= 0 ? a : b;
    }

    /** {@code min.u64}. */
    public static long minU64(long a, long b) {
        return Long.compareUnsigned(a, b) <= 0 ? a : b;
    }

    /** {@code max.u64}. */
    public static long maxU64(long a, long b) {
        return Long.compareUnsigned(a, b) >= 0 ? a : b;
    }

    /** {@code min.s16}. */
    public static int minS16(int a, int b) {
        return Math.min((short) a, (short) b) & 0xffff;
    }

    /** {@code max.s16}. */
    public static int maxS16(int a, int b) {
        return Math.max((short) a, (short) b) & 0xffff;
    }

    /** {@code min.u16}. */
    public static int minU16(int a, int b) {
        return Math.min(a & 0xffff, b & 0xffff);
    }

    /** {@code max.u16}. */
    public static int maxU16(int a, int b) {
        return Math.max(a & 0xffff, b & 0xffff);
    }

    /** {@code sad.s32}: c + |a - b|. */
    public static int sadS32(int a, int b, int c) {
        return c + (a < b ? b - a : a - b);
    }

    /** {@code sad.u32}. */
    public static int sadU32(int a, int b, int c) {
        return c + (Integer.compareUnsigned(a, b) < 0 ? b - a : a - b);
    }

    /** {@code sad.s64}. */
    public static long sadS64(long a, long b, long c) {
        return c + (a < b ? b - a : a - b);
    }

    /** {@code sad.u64}. */
    public static long sadU64(long a, long b, long c) {
        return c + (Long.compareUnsigned(a, b) < 0 ? b - a : a - b);
    }

    /** {@code sad.s16}. */
    public static int sadS16(int a, int b, int c) {
        return sadS32((short) a, (short) b, c) & 0xffff;
    }

    /** {@code sad.u16}. */
    public static int sadU16(int a, int b, int c) {
        return sadU32(a & 0xffff, b & 0xffff, c) & 0xffff;
    }
}
