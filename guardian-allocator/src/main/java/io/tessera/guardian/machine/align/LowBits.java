package io.tessera.guardian.machine.align;

/**
 * Known values of the lowest eight bits of a register, in one {@code int}: bits 8 to 15 are the mask of known bits, and bits 0 to 7 their values.
 * Unknown bits are zero. Stateless.
 */
final class LowBits {
    /** Nothing is known. */
    static final int UNKNOWN = 0;
    private static final int BITS = 8;
    private static final int ALL = (1 << BITS) - 1;
    private static final int TABLE_INPUTS = 8;

    private LowBits() {
    }

    /** All bits of a number are known. */
    static int number(int value) {
        return ALL << BITS | value & ALL;
    }

    /** A multiple of a power of two, 1 to 256, and nothing else is known. */
    static int multipleOf(int width) {
        return (width - 1) << BITS;
    }

    private static int of(int known, int value) {
        return known << BITS | value & known;
    }

    private static int known(int bits) {
        return bits >>> BITS;
    }

    private static int value(int bits) {
        return bits & ALL;
    }

    /** Returns how many bits are known from the lowest bit on. */
    private static int prefix(int bits) {
        return Integer.numberOfTrailingZeros(~known(bits));
    }

    private static int ofPrefix(int count, int value) {
        return of((1 << Math.min(count, BITS)) - 1, value);
    }

    static int sum(int one, int two) {
        return ofPrefix(Math.min(prefix(one), prefix(two)), value(one) + value(two));
    }

    /** Zeros at the end are there with either sign. */
    static int ofEitherSign(int bits) {
        return multipleOf(1 << zeros(bits));
    }

    /** Zeros at the end, as far as bits are known. */
    private static int zeros(int bits) {
        return Math.min(prefix(bits), Integer.numberOfTrailingZeros(value(bits) | 1 << BITS));
    }

    /** With a = v + 2^k x and b = w + 2^l y, the unknown terms of the product are multiples of 2^k w, 2^l v and 2^(k + l). */
    static int product(int one, int two) {
        int count = Math.min(prefix(one) + prefix(two), Math.min(prefix(one) + trailing(two), prefix(two) + trailing(one)));
        return ofPrefix(count, front(one) * front(two));
    }

    /** Returns the number of trailing zeros of the known low bits; {@link #BITS} if these are zero, since the term with them vanishes. */
    private static int trailing(int bits) {
        int front = front(bits);
        return front == 0 ? prefix(bits) == BITS ? 2 * BITS : BITS : Integer.numberOfTrailingZeros(front);
    }

    private static int front(int bits) {
        return value(bits) & (1 << prefix(bits)) - 1;
    }

    static int shiftedLeft(int bits, int count) {
        return count >= BITS ? number(0) : of(known(bits) << count & ALL | (1 << count) - 1, value(bits) << count);
    }

    static int shiftedRight(int bits, int count) {
        return count >= BITS ? UNKNOWN : of(known(bits) >>> count, value(bits) >>> count);
    }

    /** Each bit of the result is the bit of the table whose number the bits of the operands make, that of the first one in front: {@code LOP3}. */
    static int logic(int table, int one, int two, int three) {
        int known = 0;
        int value = 0;
        for (int bit = 0; bit < BITS; bit++) {
            int results = 0;
            for (int input = 0; input < TABLE_INPUTS; input++) {
                if (mayBe(one, bit, input >>> 2) && mayBe(two, bit, input >>> 1) && mayBe(three, bit, input)) {
                    results |= 1 << (table >>> input & 1);
                }
            }
            if (results != 3) {
                known |= 1 << bit;
                value |= results >>> 1 << bit;
            }
        }
        return of(known, value);
    }

    private static boolean mayBe(int bits, int bit, int wanted) {
        return (known(bits) >>> bit & 1) == 0 || ((value(bits) >>> bit ^ wanted) & 1) == 0;
    }

    /** Returns the bits that are known if the value is one or the other. */
    static int either(int one, int two) {
        return of(known(one) & known(two) & ~(value(one) ^ value(two)), value(one));
    }

    /** Returns the value after its lowest bits were replaced by a remainder modulo a power of two. */
    static int withRest(int bits, int rest, int width) {
        return of(known(bits) | width - 1, value(bits) & -width | rest);
    }

    /** Returns whether the value is known to be a multiple of a power of two. */
    static boolean isMultipleOf(int bits, int width) {
        return (known(bits) & width - 1) == width - 1 && (value(bits) & width - 1) == 0;
    }

    /** The value modulo a power of two; -1: not known. */
    static int rest(int bits, int width) {
        return (known(bits) & width - 1) == width - 1 ? value(bits) & width - 1 : -1;
    }
}
