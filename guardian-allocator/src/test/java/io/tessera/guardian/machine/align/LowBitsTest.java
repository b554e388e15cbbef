package io.tessera.guardian.machine.align;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/** The known bits of a result hold for every number with the operands' known bits. */
class LowBitsTest {
    private static final int BITS = 8;

    /** Some bits of a number, and as much is known. */
    private static int some(Random random, int number) {
        int known = random.nextInt(1 << BITS) | (random.nextBoolean() ? (1 << random.nextInt(BITS + 1)) - 1 : 0);
        return known << BITS | number & known;
    }

    private static void assertHolds(int bits, int number, String what) {
        int known = bits >>> BITS;
        assertTrue(known < 1 << BITS && (bits & 0xff & ~known) == 0, what + " is none: " + Integer.toHexString(bits));
        assertEquals(number & known, bits & 0xff, what);
    }

    @Property(tries = 2000)
    void resultsHaveTheBitsThatAreSaidToBeKnown(@ForAll long seed) {
        Random random = new Random(seed);
        int one = random.nextInt() << random.nextInt(12);
        int two = random.nextInt() << random.nextInt(12);
        int three = random.nextInt();
        int a = some(random, one);
        int b = some(random, two);
        int c = some(random, three);
        int count = random.nextInt(32);
        int table = random.nextInt(256);
        assertHolds(LowBits.sum(a, b), one + two, "sum");
        assertHolds(LowBits.product(a, b), one * two, "product");
        assertHolds(LowBits.ofEitherSign(a), one, "with its sign");
        assertHolds(LowBits.ofEitherSign(a), -one, "with the other sign");
        assertHolds(LowBits.shiftedLeft(a, count), one << count, "to the left");
        assertHolds(LowBits.shiftedRight(a, count), one >> count, "to the right");
        assertHolds(LowBits.either(a, b), one, "either");
        assertHolds(LowBits.either(a, b), two, "either");
        int width = 1 << random.nextInt(BITS);
        int rest = random.nextInt(width);
        assertHolds(LowBits.withRest(a, rest, width), one & -width | rest, "with a rest");
        int logic = 0;
        for (int bit = 0; bit < BITS; bit++) {
            int input = (one >>> bit & 1) << 2 | (two >>> bit & 1) << 1 | three >>> bit & 1;
            logic |= (table >>> input & 1) << bit;
        }
        assertHolds(LowBits.logic(table, a, b, c), logic, "table " + table);
    }

    @Test
    void multiplesOfWhatIndexesAreMultipliedByAreKnown() {
        int index = LowBits.UNKNOWN;
        int offset = LowBits.product(index, LowBits.number(16));
        assertTrue(LowBits.isMultipleOf(offset, 16));
        assertFalse(LowBits.isMultipleOf(offset, 32));
        assertTrue(LowBits.isMultipleOf(LowBits.sum(offset, LowBits.number(0x1f0)), 16));
        assertFalse(LowBits.isMultipleOf(LowBits.sum(offset, LowBits.number(4)), 8));
        assertEquals(4, LowBits.rest(LowBits.sum(offset, LowBits.number(4)), 8));
        assertEquals(-1, LowBits.rest(LowBits.sum(offset, LowBits.number(4)), 32));
        assertTrue(LowBits.isMultipleOf(LowBits.logic(0xc0, index, LowBits.number(-8), LowBits.UNKNOWN), 8), "R & ~7");
        assertEquals(4, LowBits.rest(LowBits.logic(0xfc, LowBits.multipleOf(8), LowBits.number(4), LowBits.number(0)), 8), "R | 4");
    }
}
