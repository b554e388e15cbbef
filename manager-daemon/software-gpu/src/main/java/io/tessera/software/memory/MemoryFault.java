package io.tessera.software.memory;

/** An access that the device forbids. Carries no stack trace: it is a result of the kernel, not of this program. */
public final class MemoryFault extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final boolean misaligned;
    private final long address;

    /**
     * Describes the access.
     *
     * @param misaligned whether the address is not a multiple of the size; otherwise it is outside of all memory
     * @param address    the address as the kernel knows it
     * @param what       kind of the access, for the message
     */
    public MemoryFault(boolean misaligned, long address, String what) {
        super((misaligned ? "misaligned " : "illegal ") + what + " at 0x" + Long.toHexString(address), null, false,
                false);
        this.misaligned = misaligned;
        this.address = address;
    }

    /** Returns whether only the alignment was wrong. */
    public boolean isMisaligned() {
        return misaligned;
    }

    /** The address as the kernel knows it. */
    public long address() {
        return address;
    }
}
