package io.tessera.guardian.ptx;

/** Kinds of memory (PTX ISA, "State Spaces"). Sub-qualifiers such as {@code shared::cluster} belong to their space. */
public enum StateSpace {
    /** Registers. */
    REG("reg"),
    /** Constant memory of the module. */
    CONST("const"),
    /** Memory that all threads of the device see. */
    GLOBAL("global"),
    /** A thread's own memory. */
    LOCAL("local"),
    /** Parameters of entries and functions. */
    PARAM("param"),
    /** Memory of a block, and of the blocks of its cluster. */
    SHARED("shared"),
    /** Old spelling of a texture reference's space. */
    TEX("tex");

    private final String ptx;

    StateSpace(String ptx) {
        this.ptx = ptx;
    }

    /** Name in PTX without the dot. */
    public String ptx() {
        return ptx;
    }

    /** The space that a modifier names, with or without sub-qualifier ({@code shared::cta}), or null. */
    public static StateSpace of(String modifier) {
        return switch (modifier) {
            case "reg" -> REG;
            case "const" -> CONST;
            case "global" -> GLOBAL;
            case "local" -> LOCAL;
            case "param", "param::entry", "param::func" -> PARAM;
            case "shared", "shared::cta", "shared::cluster" -> SHARED;
            case "tex" -> TEX;
            default -> null;
        };
    }
}
