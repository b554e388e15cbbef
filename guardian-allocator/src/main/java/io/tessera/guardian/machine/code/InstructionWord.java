package io.tessera.guardian.machine.code;

/**
 * Fields of an instruction. Since sm_70 an instruction has 128 bits, here two words: bits 0 to 63 and bits 64 to 127. The facts about
 * fields were learned from code that ptxas made and checked against nvdisasm 12.8. It holds for each {@link Architecture}, which has what
 * differs; others are refused. Stateless.
 */
public final class InstructionWord {
    /** Bytes of an instruction. */
    public static final int BYTES = 16;
    /** The general register that reads as zero and keeps nothing. */
    public static final int ZERO_REGISTER = 255;
    /** The uniform register that reads as zero and keeps nothing. */
    public static final int ZERO_UNIFORM = 63;
    /** The predicate of an instruction that is always executed, where {@link #predicate} has it. */
    public static final int ALWAYS = 7;
    /** Places of operands that may be handed on. */
    public static final int OPERANDS = 3;
    /**
     * Cycles after which a wait for a scoreboard is effective: an instruction that is issued earlier does not see that the scoreboard was taken, and
     * does not wait. ptxas leaves at least as many (counted: 63,000 places of PyTorch 2.11 and cuBLAS 13.1 for sm_90); with one cycle, a store read
     * the address that its successor had written.
     */
    public static final int SCOREBOARD_CYCLES = 2;
    private static final int ALL_SCOREBOARDS = 0x3f;
    private static final int MOST_KEPT_STALL = 11;
    private static final long KEEP = 1L << 45;
    private static final int REUSE_SHIFT = 58;

    private InstructionWord() {
    }

    /**
     * Returns whether an access has an immediate of 32 bits instead of 24: {@code LD} and {@code ST} without a uniform register. The register that
     * {@code ST} stores is then in bits 64 to 71.
     */
    public static boolean hasWideImmediate(long low, long high) {
        return switch (key(low, high)) {
            case 0x980, 0x385 -> true;
            default -> false;
        };
    }

    /** Returns the key of an instruction: the opcode and, as bit 12, whether an operand is a uniform register (bit 91). */
    public static int key(long low, long high) {
        return (int) (low & 0xfff) | (int) (high >>> 27 & 1) << 12;
    }

    /** The general register that it writes first. */
    public static int destination(long low) {
        return (int) (low >>> 16) & 0xff;
    }

    /** The uniform register that it writes first, of an instruction that writes uniform registers. */
    public static int uniformDestination(long low) {
        return (int) (low >>> 16) & 0x3f;
    }

    /** The first source register; of a memory access, the register with the low half of the address. */
    public static int source(long low) {
        return (int) (low >>> 24) & 0xff;
    }

    /** Its predicate, 0 to 7, with 8 added where it is negated; {@link #ALWAYS} without. */
    public static int predicate(long low) {
        return (int) (low >>> 12) & 0xf;
    }

    /** Returns the bits of this predicate in a new instruction. */
    public static long predicateBits(int predicate) {
        return (long) predicate << 12;
    }

    /** The immediate of 32 bits. */
    public static int immediate(long low) {
        return (int) (low >>> 32);
    }

    /** Returns the instruction with another immediate of 32 bits. */
    public static long withImmediate(long low, int immediate) {
        return low & 0xffffffffL | (long) immediate << 32;
    }

    /** Cycles before the next instruction of the warp. */
    public static int stall(long high) {
        return (int) (high >>> 41) & 0xf;
    }

    /**
     * Cycles that certainly pass before the next instruction of the warp. Compilers write stalls of more than 11 cycles only without bit 109, which keeps the warp; nothing
     * is known of the others.
     */
    public static int cycles(long high) {
        int stall = stall(high);
        return stall > MOST_KEPT_STALL && (high & KEEP) != 0 ? 0 : stall;
    }

    /** The scoreboards that it waits for, one bit each. */
    public static int waits(long high) {
        return (int) (high >>> 52) & ALL_SCOREBOARDS;
    }

    /** Returns the bits that make an instruction wait for scoreboards, as {@link #waits}. */
    public static long waitBits(int scoreboards) {
        return (long) scoreboards << 52;
    }

    /** The scoreboard that it releases when its result is there; 7: none. */
    public static int writeScoreboard(long high) {
        return (int) (high >>> 46) & 7;
    }

    /** The second word with another {@link #writeScoreboard}. */
    public static long withWriteScoreboard(long high, int scoreboard) {
        return high & ~(7L << 46) | (long) scoreboard << 46;
    }

    /** The scoreboard that it releases when its sources were read; 7: none. */
    public static int readScoreboard(long high) {
        return (int) (high >>> 49) & 7;
    }

    /** The scoreboards that it releases when its result is there or its sources were read, one bit each. */
    public static int scoreboards(long high) {
        return (1 << writeScoreboard(high) | 1 << readScoreboard(high)) & ALL_SCOREBOARDS;
    }

    /**
     * Control bits of an instruction without scoreboards of its own.
     *
     * @param stall cycles before the next instruction of the warp, up to 15
     * @param waits as {@link #waits}
     */
    public static long control(int stall, int waits) {
        return ((long) stall | 7L << 5 | 7L << 8 | (long) waits << 11) << 41;
    }

    /** The second word without the marks of operands that the next instruction uses again. */
    public static long withoutReuse(long high) {
        return high & ~(0xfL << REUSE_SHIFT);
    }

    /** Returns whether operands are marked for reuse by the next instruction. */
    public static boolean reuses(long high) {
        return (high >>> REUSE_SHIFT & 0xf) != 0;
    }

    /**
     * Returns whether a register, as an operand or the upper half of one, may be handed on to a later instruction. All marks and the three operand
     * positions are tested together, so some instructions match although they do not hand this register on.
     */
    public static boolean handsOn(long low, long high, int register) {
        boolean operand = false;
        for (int place = 0; place < OPERANDS; place++) {
            operand |= operand(low, high, place) == register || operand(low, high, place) == register - 1;
        }
        return operand && reuses(high);
    }

    /** The contents of one of the three {@link #OPERANDS} places where operands are: perhaps the number of a register. */
    public static int operand(long low, long high, int place) {
        return (int) (place == 0 ? low >>> 24 : place == 1 ? low >>> 32 : high) & 0xff;
    }
}
