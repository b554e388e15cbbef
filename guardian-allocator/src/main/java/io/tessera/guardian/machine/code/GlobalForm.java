package io.tessera.guardian.machine.code;

/**
 * Position of the uniform register in an instruction of kind {@link Kind#GLOBAL}, and the two bits that define its use. Of the four forms {@code
 * desc[UR][R.64+imm]}, {@code [R.64+UR+imm]}, {@code [R.U32+UR+imm]} and a fourth that is illegal, the first is the usual one: the uniform register
 * holds a descriptor.
 */
public enum GlobalForm {
    /** LDG, LD. */
    LOAD(true, 76, 90),
    /** STG, ST. */
    STORE(false, 76, 90),
    /** REDG. */
    REDUCTION(false, 71, 90),
    /** ATOMG, ATOM. */
    ATOMIC(false, 71, 70),
    /** LDGSTS. */
    COPY(false, 76, 70);

    private final boolean inLowWord;
    private final long descriptorBit;
    private final long wideBit;

    GlobalForm(boolean inLowWord, int descriptorBit, int wideBit) {
        this.inLowWord = inLowWord;
        this.descriptorBit = 1L << descriptorBit - 64;
        this.wideBit = 1L << wideBit - 64;
    }

    /** The form of an instruction, by its opcode. */
    public static GlobalForm of(int key) {
        return switch (key) {
            case 0x1981, 0x1980 -> LOAD;
            case 0x1986, 0x1985 -> STORE;
            case 0x19a6, 0x198e -> REDUCTION;
            case 0x1fae -> COPY;
            default -> ATOMIC;
        };
    }

    /** The uniform register. */
    public int uniform(long low, long high) {
        return (int) (inLowWord ? low >>> 32 : high) & 0x3f;
    }

    /** Returns whether the uniform register is a descriptor, so that the address is that of the general register alone. */
    public boolean hasDescriptor(long high) {
        return (high & descriptorBit) != 0;
    }

    /** Returns whether an instruction of kind {@link Kind#GLOBAL_REGISTER} takes an address of 64 bits: bit 72, or bit 70 for LDGSTS. */
    public static boolean isRegisterWide(int key, long high) {
        return (high >>> (key == 0x1dae ? 6 : 8) & 1) != 0;
    }

    /** Returns whether the address is that of the general register alone: the uniform register is a descriptor or zero. */
    public boolean isPlain(long low, long high) {
        return isWide(high) && (hasDescriptor(high) || uniform(low, high) == InstructionWord.ZERO_UNIFORM);
    }

    /** Returns whether the address register has 64 bits; otherwise, its low 32 bits are used. */
    public boolean isWide(long high) {
        return (high & wideBit) != 0;
    }

    /** The first word of {@code [R.64+imm]}, which has no descriptor. */
    public long plainLow(long low) {
        return windowedLow(low, InstructionWord.ZERO_UNIFORM);
    }

    /** The second word of {@code [R.64+imm]}, of an access with a descriptor. */
    public long plainHigh(long high) {
        return withUniform(high & ~descriptorBit, InstructionWord.ZERO_UNIFORM);
    }

    /** The first word of {@code [R.U32+UR+imm]}. */
    public long windowedLow(long low, int uniform) {
        return inLowWord ? low & ~(0xffL << 32) | (long) uniform << 32 : low;
    }

    /** The second word of {@code [R.U32+UR+imm]}. */
    public long windowedHigh(long high, int uniform) {
        return withUniform(high & ~descriptorBit & ~wideBit, uniform);
    }

    /** The second word of the same form with another uniform register; {@link #windowedLow} has the first one. */
    public long withUniform(long high, int uniform) {
        return inLowWord ? high : high & ~0x3fL | uniform;
    }
}
