package io.tessera.guardian.machine;

/**
 * A fence for machine code, and the window that it is for. Immutable.
 *
 * @param kind          how addresses are kept in the window
 * @param baseHigh      the upper 32 bits of the window's base, which is a multiple of its size
 * @param mask          the window's size in units of 4 GiB, minus one: 2^k - 1
 * @param reportAddress device address of a word of 32 bits outside the window, which threads that would end the context write before they end; 0 if
 *                      they do not write, and end the context
 * @param reportValue   the value that they write, with {@link #ASSERTION} or {@link #TRAP} in the lowest two bits and the number of an assertion's
 *                      text above them, see {@link #reported}
 * @param stopAddress   device address of a word of 32 bits outside the window that loops look at: 0 in the word tells their threads to end. If the
 *                      address is 0, loops do not look
 * @param aligns        whether addresses are aligned as their accesses need
 */
public record MachineFence(Kind kind, int baseHigh, int mask, long reportAddress, int reportValue, long stopAddress, boolean aligns) {
    /** A failed assertion. */
    public static final int ASSERTION = 1;
    /** A trap or breakpoint. */
    public static final int TRAP = 2;
    /** Number of images that {@link #reportValue} can distinguish; it is below that. */
    public static final int MOST_REPORT_VALUES = 1 << 16;
    /** Maximum number of texts of assertions in a cubin. */
    public static final int MOST_TEXTS = (1 << 14) - 1;
    private static final int REASON_BITS = 2;
    private static final int VALUE_SHIFT = 16;

    /** How addresses are kept in the window. */
    public enum Kind {
        /** No fence: code is laid out again without changes. For tests. */
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
        if (reportValue < 0 || reportValue >= MOST_REPORT_VALUES || (reportAddress & Integer.BYTES - 1) != 0) {
            throw new IllegalArgumentException("no report: " + reportValue + " at 0x" + Long.toHexString(reportAddress));
        }
        if ((stopAddress & Integer.BYTES - 1) != 0) {
            throw new IllegalArgumentException("no stop word: 0x" + Long.toHexString(stopAddress));
        }
    }

    /** Creates a fence without reports. */
    public MachineFence(Kind kind, int baseHigh, int mask) {
        this(kind, baseHigh, mask, 0, 0, 0, false);
    }

    /** The fence that serves a window, without reports. */
    public static MachineFence of(long baseAddress, long sizeBytes) {
        int mask = (int) ((sizeBytes >>> 32) - 1);
        return new MachineFence(mask == 0 ? Kind.LOW_WORD : Kind.MASK, (int) (baseAddress >>> 32), mask);
    }

    /**
     * Returns this fence with reports.
     *
     * @param address as in {@link #reportAddress}
     * @param value below {@link #MOST_REPORT_VALUES}, for the reader of the word
     */
    public MachineFence reporting(long address, int value) {
        return new MachineFence(kind, baseHigh, mask, address, value, stopAddress, aligns);
    }

    /** Returns this fence for a window of the same size elsewhere, by the upper 32 bits of its base. */
    public MachineFence at(int otherBaseHigh) {
        return new MachineFence(kind, otherBaseHigh, mask, reportAddress, reportValue, stopAddress, aligns);
    }

    /** Returns this fence with loops that look at the word at an address; 0 if they do not look. */
    public MachineFence looking(long address) {
        return new MachineFence(kind, baseHigh, mask, reportAddress, reportValue, address, aligns);
    }

    /** Returns this fence with addresses that are aligned as their accesses need. */
    public MachineFence aligning() {
        return new MachineFence(kind, baseHigh, mask, reportAddress, reportValue, stopAddress, true);
    }

    /** Returns whether loops look at a stop word. */
    public boolean looks() {
        return stopAddress != 0;
    }

    /** Returns whether threads report and end instead of ending the context. */
    public boolean reports() {
        return reportAddress != 0;
    }

    /**
     * Returns the word that a thread writes.
     *
     * @param reason with the number of a text, if there is one: {@link #reason}
     */
    public int reported(int reason) {
        return reportValue << VALUE_SHIFT | reason;
    }

    /** A reason with the number of a text, from 1 to {@link #MOST_TEXTS}; 0: none. */
    public static int reason(int reason, int text) {
        return reason | text << REASON_BITS;
    }

    /** Returns the lower part of a word: a reason as {@link #reason} makes it. */
    public static int reasonOf(int word) {
        return word & (1 << VALUE_SHIFT) - 1;
    }

    /** Returns whether a word reports a failed assertion, with a text or without. */
    public static boolean isAssertion(int word) {
        return (word & (1 << REASON_BITS) - 1) == ASSERTION;
    }

    /** The number of the text in a word; 0: none. */
    public static int textOf(int word) {
        return reasonOf(word) >>> REASON_BITS;
    }

    /** The {@link #reportValue} of a word. */
    public static int valueOf(int word) {
        return word >>> VALUE_SHIFT;
    }

    /** Returns whether threads with this fence may write a word. */
    public boolean isReported(int word) {
        return valueOf(word) == reportValue && (isAssertion(word) || reasonOf(word) == TRAP);
    }
}
