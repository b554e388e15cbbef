package io.tessera.guardian.fence;

/** The method that keeps a kernel's global accesses inside its tenant's window. */
public enum FenceMode {
    /**
     * No fence. Module variables still move into the window, and traps, asserts and endless loops are contained, except loops that count to a bound
     * and overflow or step past it.
     */
    NONE,
    /** The high word of an address is forced into the window: {@code (address & (size - 1)) | base}. Windows of 2^k bytes, k >= 32. */
    MASK,
    /** The high word is reduced: {@code base + (address - base) % size}. Windows of any multiple of 4 GiB. */
    MODULO,
    /** An access outside the window is not made; it is recorded in the report area and ends its thread. Windows as for {@link #MASK}. */
    CHECK
}
