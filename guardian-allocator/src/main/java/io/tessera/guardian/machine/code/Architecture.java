package io.tessera.guardian.machine.code;

/**
 * A GPU architecture whose instructions are known. Differences of those before sm_90 from sm_90 are here; everything else is common. The
 * differences were learned from the libraries of CUDA 13, with nvdisasm as the judge; fenced code was executed on sm_90 alone. Immutable.
 */
public enum Architecture {
    /** A100. */
    SM_80(80),
    /** GeForce 30, A10, A40. */
    SM_86(86),
    /** GeForce 40, L4, L40. */
    SM_89(89),
    /** H100, H200. */
    SM_90(90);

    private static final long BRANCH_LOW = 0xffL << 16;
    private static final long BRANCH_MIDDLE = ((1L << 30) - 1) << 34;
    /** Up to bit 81, the sign. */
    private static final long BRANCH_HIGH = 0x3ffff;
    private static final int BRANCH_BITS = 56;
    /** Before sm_90, the distance is bits 34 to 81, and bits 16 to 23 are not part of it. */
    private static final int OLD_BRANCH_BITS = 48;
    /** {@code VIMNMX Rd, Ra, URb}, signed; bit 90 makes it the greater one. Before sm_90 {@code IMNMX}. */
    private static final long LIMIT = 0xc48;
    private static final long LIMIT_HIGH = 0x0bfe0100L;
    private static final long OLD_LIMIT = 0xc17;
    private static final long OLD_LIMIT_HIGH = 0x0b800200L;
    private static final long GREATEST = 1L << 26;
    /** Cycles from a computation in uniform registers to an access by its result. Before sm_90 ptxas leaves at least eight, in a sample with few of them. */
    private static final int UNIFORM_BEFORE_ACCESS = 6;
    private static final int OLD_UNIFORM_BEFORE_ACCESS = 12;

    private static final int DESCRIPTOR = 0x208;
    private static final int OLD_DESCRIPTOR = 0x118;

    private final int number;

    Architecture(int number) {
        this.number = number;
    }

    /** Returns the architecture with a number, for example 90 for {@code sm_90} and {@code sm_90a}; null if its instructions are not known. */
    public static Architecture of(int number) {
        for (Architecture architecture : values()) {
            if (architecture.number == number) {
                return architecture;
            }
        }
        return null;
    }

    /** The names of all of them, for messages. */
    public static String names() {
        StringBuilder names = new StringBuilder();
        for (Architecture architecture : values()) {
            names.append(names.isEmpty() ? "sm_" : ", sm_").append(architecture.number);
        }
        return names.toString();
    }

    /** Its number. */
    public int number() {
        return number;
    }

    private boolean isOld() {
        return this != SM_90;
    }

    /**
     * Returns whether accesses may add 32 bits of a general register to a pair of uniform registers, {@code [R.U32+UR.64+imm]}. nvdisasm knows this
     * form on all architectures, but before sm_90 no compiled code has it, so fences do not rely on it there.
     */
    public boolean addsLowWords() {
        return !isOld();
    }

    /** Returns whether loops get looks at a stop word: the behaviour of a look's instructions was observed on sm_90 only. */
    public boolean hasLooks() {
        return !isOld();
    }

    /** Returns whether addresses are rounded down before accesses: the widths of accesses were determined for sm_90 only. */
    public boolean hasRounding() {
        return !isOld();
    }

    /** Returns whether compilers also leave loops by calls from which nothing returns: no constant is their return address. */
    public boolean hasCallsWithoutReturn() {
        return isOld();
    }

    /**
     * Returns whether a scoreboard signals the end of {@code DADD}, {@code DMUL}, {@code DFMA} and {@code DSETP}; otherwise, their latency is fixed.
     */
    public boolean hasDoublesByScoreboard() {
        return isOld();
    }

    /** Returns whether fenced code of this architecture has been executed on such a GPU. */
    public boolean wasRun() {
        return this == SM_90;
    }

    /** Cycles from a computation in uniform registers to a memory access that takes its result. */
    public int uniformBeforeAccess() {
        return isOld() ? OLD_UNIFORM_BEFORE_ACCESS : UNIFORM_BEFORE_ACCESS;
    }

    /** Returns the offset in constant bank 0 of the driver's descriptor of accesses to global memory, in bytes; the parameters follow it. */
    public int descriptorInBank() {
        return isOld() ? OLD_DESCRIPTOR : DESCRIPTOR;
    }

    /** Bytes from the next instruction to the target of a branch or call. */
    public long distance(long low, long high) {
        if (isOld()) {
            long field = low >>> 34 & (1L << 30) - 1 | (high & BRANCH_HIGH) << 30;
            return (field << 64 - OLD_BRANCH_BITS >> 64 - OLD_BRANCH_BITS) * 4;
        }
        long field = (low >>> 34 & (1L << 30) - 1 | (high & BRANCH_HIGH) << 30) << 8 | low >>> 16 & 0xff;
        return (field << 64 - BRANCH_BITS >> 64 - BRANCH_BITS) * 4;
    }

    /** The first word with another distance, a multiple of 4. */
    public long withDistanceLow(long low, long distance) {
        long field = distance / 4;
        if (isOld()) {
            return low & ~BRANCH_MIDDLE | (field & (1L << 30) - 1) << 34;
        }
        return low & ~(BRANCH_LOW | BRANCH_MIDDLE) | (field & 0xff) << 16 | (field >>> 8 & (1L << 30) - 1) << 34;
    }

    /** The second word with another distance. */
    public long withDistanceHigh(long high, long distance) {
        if (isOld()) {
            return high & ~BRANCH_HIGH | distance / 4 >>> 30 & BRANCH_HIGH;
        }
        return high & ~BRANCH_HIGH | distance / 4 >>> 38 & BRANCH_HIGH;
    }

    /** The first word, without registers and predicate, of what takes the smaller or greater one of a general and a uniform register, signed. */
    public long limitLow() {
        return isOld() ? OLD_LIMIT : LIMIT;
    }

    /** Its second word without control bits. */
    public long limitHigh(boolean greatest) {
        return (isOld() ? OLD_LIMIT_HIGH : LIMIT_HIGH) | (greatest ? GREATEST : 0);
    }
}
