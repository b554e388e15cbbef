package io.tessera.guardian.machine.code;

/** Instructions that write an immediate into a register, in the ways in which ptxas writes it. */
public final class ImmediateResult {
    /** The instruction writes something else. */
    public static final long NONE = -1;

    private ImmediateResult() {
    }

    /**
     * Returns the number that an instruction writes to its first register if its predicate holds.
     *
     * @return the 32 bits of the immediate, unsigned, or {@link #NONE}
     */
    public static long of(long low, long high) {
        boolean onlyThird = InstructionWord.source(low) == InstructionWord.ZERO_REGISTER;
        boolean zeroSum = onlyThird && (high & 0xff) == InstructionWord.ZERO_REGISTER;
        boolean immediate = switch ((int) low & 0xfff) {
            case 0x802, 0x882 -> true; // MOV, UMOV
            case 0x424 -> onlyThird; // IMAD of zero
            case 0x431, 0x435 -> zeroSum; // HFMA2 of zeros
            default -> false;
        };
        return immediate ? Integer.toUnsignedLong(InstructionWord.immediate(low)) : NONE;
    }
}
