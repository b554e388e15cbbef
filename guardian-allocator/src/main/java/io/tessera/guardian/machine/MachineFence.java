package io.tessera.guardian.machine;

/**
 * A fence for machine code, and the window that it is for. Immutable.
 *
 * @param kind          how addresses are kept in the window
 * @param baseHigh      the upper 32 bits of the window's base, which is a multiple of its size
 * @param mask          the window's size in units of 4 GiB, less one: 2^k - 1
 * @param reportAddress device address of a word of 32 bits outside the window, which threads that would end the context write before they end; 0: they
 *                      do not write, and end the context
 * @param reportValue   what they write, with {@link #ASSERTION} or {@link #TRAP} in the lowest bits, see {@link #reported}
 * @param stopAddress   device address of a word of 32 bits outside the window that loops look at: 0 tells their threads to end. 0: loops do not look
 */
public record MachineFence(Kind kind, int baseHigh, int mask, long reportAddress, int reportValue, long stopAddress) {
    /** A failed assertion. */
    public static final int ASSERTION = 1;
    /** A trap or breakpoint. */
    public static final int TRAP = 2;
    /** Bits of {@link #reportValue} that say why a thread ended. */
    public static final int REASON_BITS = 2;

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
        if (reportValue << REASON_BITS >>> REASON_BITS != reportValue || (reportAddress & Integer.BYTES - 1) != 0) {
            throw new IllegalArgumentException("no report: " + reportValue + " at 0x" + Long.toHexString(reportAddress));
        }
        if ((stopAddress & Integer.BYTES - 1) != 0) {
            throw new IllegalArgumentException("no stop word: 0x" + Long.toHexString(stopAddress));
        }
    }

    /** Without reports. */
    public MachineFence(Kind kind, int baseHigh, int mask) {
        this(kind, baseHigh, mask, 0, 0, 0);
    }

    /** The fence that serves a window, without reports. */
    public static MachineFence of(long baseAddress, long sizeBytes) {
        int mask = (int) ((sizeBytes >>> 32) - 1);
        return new MachineFence(mask == 0 ? Kind.LOW_WORD : Kind.MASK, (int) (baseAddress >>> 32), mask);
    }

    /**
     * The same with reports.
     *
     * @param address as {@link #reportAddress}
     * @param value   below 2^30, for whoever reads the word
     */
    public MachineFence reporting(long address, int value) {
        return new MachineFence(kind, baseHigh, mask, address, value, stopAddress);
    }

    /** The same with loops that look at the word at an address; 0: they do not. */
    public MachineFence looking(long address) {
        return new MachineFence(kind, baseHigh, mask, reportAddress, reportValue, address);
    }

    /** Whether loops look at a stop word. */
    public boolean looks() {
        return stopAddress != 0;
    }

    /** Whether threads report and end instead of ending the context. */
    public boolean reports() {
        return reportAddress != 0;
    }

    /** The word that a thread writes. */
    public int reported(int reason) {
        return reportValue << REASON_BITS | reason;
    }
}
