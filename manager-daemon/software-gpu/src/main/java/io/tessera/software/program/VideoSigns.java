package io.tessera.software.program;

/** Minus signs of the operands of {@code vmad}, and whether there is a third one: bits of the last argument of video instructions. */
public final class VideoSigns {
    /** The product is negated: one of a and b is. */
    public static final int PRODUCT = 1;
    /** The third operand is negated. */
    public static final int ADDEND = 2;
    /** There is a third operand. */
    public static final int THIRD = 4;

    private VideoSigns() {
    }
}
