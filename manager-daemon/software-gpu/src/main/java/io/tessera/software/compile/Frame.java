package io.tessera.software.compile;

/** Locals of the generated method before the registers. */
final class Frame {
    /** The {@code ThreadState}, the method's argument. */
    static final int THREAD = 1;
    /** Its {@code BlockState}. */
    static final int BLOCK = 2;
    /** Its {@code GridState}. */
    static final int GRID = 3;
    /** The {@code MemoryMap}. */
    static final int MAP = 4;
    /** Address of the kernel's parameters, a long. */
    static final int PARAMETERS = 5;
    /** The carry flag of extended-precision integer arithmetic, an int. */
    static final int CARRY = 7;
    /** Addresses on their way, a long. */
    static final int ADDRESS = 8;
    /** Array of saved registers, while it is in use. */
    static final int SAVED = 10;
    /** A value on its way, of one or two locals. */
    static final int VALUE = 11;
    /** The first register. */
    static final int REGISTERS = 13;

    private Frame() {
    }
}
