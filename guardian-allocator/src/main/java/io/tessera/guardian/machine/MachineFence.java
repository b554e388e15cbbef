package io.tessera.guardian.machine;

/**
 * A fence for global memory in machine code, and the window that it is for. Immutable.
 *
 * @param kind     how addresses are kept in the window
 * @param baseHigh the upper 32 bits of the window's base, which is a multiple of its size
 * @param mask     the window's size in units of 4 GiB, less one: 2^k - 1
 */
public record MachineFence(Kind kind, int baseHigh, int mask) {
    /** How addresses are kept in the window. */
    public enum Kind {
        /** No fence: code is laid out anew and stays what it was. For tests. */
        NONE,
        /** Windows of 4 GiB: the access takes the low 32 bits of its address and adds the base from a uniform register. */
        LOW_WORD,
        /** Windows of any power of two: the high word of the address is forced into the window before the access. */
        MASK
    }

    /** Checks that the base fits the size. */
    public MachineFence {
        if ((mask & mask + 1) != 0 || (baseHigh & mask) != 0 || kind == Kind.LOW_WORD && mask != 0) {
            throw new IllegalArgumentException("no window: base 0x" + Integer.toHexString(baseHigh) + " and mask 0x" + Integer.toHexString(mask));
        }
    }

    /** The fence that serves a window. */
    public static MachineFence of(long baseAddress, long sizeBytes) {
        int mask = (int) ((sizeBytes >>> 32) - 1);
        return new MachineFence(mask == 0 ? Kind.LOW_WORD : Kind.MASK, (int) (baseAddress >>> 32), mask);
    }
}
