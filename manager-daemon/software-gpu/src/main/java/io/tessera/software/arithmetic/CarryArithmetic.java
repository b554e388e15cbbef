package io.tessera.software.arithmetic;

/**
 * The carry flag of extended-precision chains ({@code add.cc}, {@code addc}, {@code sub.cc}, {@code subc},
 * {@code mad.cc}, {@code madc}). The sums themselves wrap around and are Java's operators; these give the flag, 0 or 1.
 * After a subtraction the flag is the borrow.
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

    /** Borrow out of {@code a - b - borrow}, 32 bits. */
    public static int borrowOfDifference(int a, int b, int borrow) {
        return (int) ((a & 0xffffffffL) - (b & 0xffffffffL) - borrow >>> 63);
    }

    /** Borrow out of {@code a - b - borrow}, 64 bits. */
    public static int borrowOfDifference(long a, long b, int borrow) {
        long difference = a - b - borrow;
        return (int) ((~a & b | (~a | b) & difference) >>> 63);
    }
}
