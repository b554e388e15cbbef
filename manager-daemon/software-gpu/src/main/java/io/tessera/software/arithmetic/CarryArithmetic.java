package io.tessera.software.arithmetic;

/**
 * The carry flag of extended-precision chains ({@code add.cc}, {@code addc}, {@code sub.cc}, {@code subc},
 * {@code mad.cc}, {@code madc}). The sums themselves wrap around and are Java's operators; these give the flag, 0 or 1.
 * A subtraction is the sum of {@code a}, {@code ~b} and the flag, so the flag after it is the opposite of the borrow, and
 * a first {@code sub.cc} begins with 1. The PTX ISA speaks of a borrow; what nvcc 13.0 makes of 128-bit division reads the
 * flag of a {@code subc.cc} with {@code addc} and depends on this.
 */
public final class CarryArithmetic {
    private CarryArithmetic() {
    }

    /** Carry out of {@code a + b + carry}, 32 bits. */
    public static int carryOfSum(int a, int b, int carry) {
        return (int) ((a & 0xffffffffL) + (b & 0xffffffffL) + carry >>> 32);
    }

    /** Carry out of {@code a + b + carry}, 64 bits. */
    public static int carryOfSum(long a, long b, int carry) {
        long sum = a + b + carry;
        return (int) ((a & b | (a | b) & ~sum) >>> 63);
    }
}
