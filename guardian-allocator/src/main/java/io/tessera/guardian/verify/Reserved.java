package io.tessera.guardian.verify;

/** Names and layouts that fenced text shares with its loader: a second statement of what the rewriter says, on purpose. */
public final class Reserved {
    /** Words about the window, in constant memory. */
    public static final String WINDOW = "__tessera_window";
    public static final int WINDOW_BYTES = 64;
    /** Constants with the address of a variable in the window. */
    static final String ADDRESS = "__tessera_at_";
    /** Private texts that are printed. */
    public static final String FORMAT = "__tessera_format_";
    /** Start of the dynamic shared memory. */
    public static final String DYNAMIC = "__tessera_shared";
    /** Prefix of every name that does not belong to the program. */
    static final String PREFIX = "__tessera_";

    public static final int HIGH_WORDS = 0;
    public static final int RECIPROCAL = 24;
    public static final int REPORT = 32;
    public static final int STOP = 40;
    public static final int HANDLES = 48;
    public static final int COMMON_WORDS = 56;

    /** Bytes of a report area: 64 and 32 records of 64. */
    public static final long REPORT_BYTES = 64 * 33;
    /** Bits of 2^20 handles. */
    public static final long HANDLE_BYTES = 1 << 17;
    /** Size of the mapped guard band on each side of a window. */
    public static final long GUARD_BYTES = 40L << 30;
    /** Maximum distance from the window of an address to which an instruction adds a register's value: rows of matrices, reads of calls. */
    public static final long REACH = GUARD_BYTES - (9L << 30);
    /** Passes of a loop that a full word allows, at most. */
    public static final long MOST_FUEL = 4096;

    private Reserved() {
    }
}
