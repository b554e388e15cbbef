package io.tessera.software.compile;

/** Locals of the generated method before the registers. */
final class ReservedLocals {
    /** The block's {@code ThreadState}s, an argument. */
    static final int THREADS = 1;
    /** Their status, an argument. */
    static final int STATUS = 2;
    /** Number of the thread that runs; the argument that tells the first one. */
    static final int NUMBER = 3;
    /** Number after the last one's, an argument. */
    static final int END = 4;
    /** The {@code ThreadState} of the thread that runs. */
    static final int THREAD = 5;
    /** The {@code BlockState}. */
    static final int BLOCK = 6;
    /** Its {@code GridState}. */
    static final int GRID = 7;
    /** The {@code MemoryMap}. */
    static final int MAP = 8;
    /** Address of the kernel's parameters, a long. */
    static final int PARAMETERS = 9;
    /** The carry flag of extended-precision integer arithmetic, an int. */
    static final int CARRY = 11;
    /** Addresses on their way, a long. */
    static final int ADDRESS = 12;
    /** Array of saved registers, while it is in use. */
    static final int SAVED = 14;
    /** A value on its way, of one or two locals. */
    static final int VALUE = 15;
    /** The first register. */
    static final int REGISTERS = 17;

    private ReservedLocals() {
    }
}
