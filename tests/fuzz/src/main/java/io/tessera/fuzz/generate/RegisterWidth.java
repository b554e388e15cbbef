package io.tessera.fuzz.generate;

/** Kinds of registers that generated kernels have. */
enum RegisterWidth {
    PRED("pred", 1), H16("b16", 16), W32("b32", 32), D64("b64", 64);

    private final String type;
    private final int bits;

    RegisterWidth(String type, int bits) {
        this.type = type;
        this.bits = bits;
    }

    /** As it is declared. */
    String type() {
        return type;
    }

    int bits() {
        return bits;
    }
}
