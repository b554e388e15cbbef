package io.tessera.software.program;

/**
 * Classes of registers. A float lives as raw bits in the class of its width. Values narrower than a slot are kept
 * zero-extended: a 16-bit register never has a bit above 15 set, whatever type wrote it.
 */
public enum RegisterClass {
    PREDICATE(1), BITS16(16), BITS32(32), BITS64(64), BITS128(128);

    private final int bits;

    RegisterClass(int bits) {
        this.bits = bits;
    }

    /** Width in bits; a predicate has 1. */
    public int bits() {
        return bits;
    }

    /** Slots of 64 bits that a register of this class takes: two for 128 bits, low half first. */
    public int slots() {
        return this == BITS128 ? 2 : 1;
    }

    /** Returns the class for registers declared with a type; 8-bit registers live in 16 bits, as the hardware has none. */
    public static RegisterClass of(ValueType type) {
        return switch (type.bits()) {
            case 1 -> PREDICATE;
            case 8, 16 -> BITS16;
            case 32 -> BITS32;
            case 64 -> BITS64;
            default -> BITS128;
        };
    }
}
