package io.tessera.software.arithmetic;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tessera.software.arithmetic.LaneArithmetic.Selection;
import io.tessera.software.arithmetic.LaneArithmetic.Signs;
import org.junit.jupiter.api.Test;

/** Lanes of video instructions, by hand. */
class LaneArithmeticTest {
    private static final Signs UNSIGNED = new Signs(false, false, false);
    private static final Signs SIGNED = new Signs(true, true, true);

    @Test
    void carriesStayInTheirLanes() {
        assertEquals(0x00008002, LaneArithmetic.map(8, Integer::sum, UNSIGNED, false, Selection.all(8), 0xFF010001, 0x01FF8001, 0));
        assertEquals(0xFFFF8002, LaneArithmetic.map(8, Integer::sum, UNSIGNED, true, Selection.all(8), 0xFF010001, 0x01FF8001, 0));
        assertEquals(0x00010000, LaneArithmetic.map(16, Integer::sum, UNSIGNED, false, Selection.all(16), 0x0002FFFF, 0xFFFF0001, 0));
    }

    @Test
    void clampingFollowsTheResultsSign() {
        assertEquals(0x7F80, LaneArithmetic.map(8, Integer::sum, SIGNED, true, Selection.all(8), 0x7F80, 0x01FF, 0));
        assertEquals(0x7FFF8000, LaneArithmetic.map(16, Integer::sum, SIGNED, true, Selection.all(16), 0x7FFF8000, 0x0001FFFF, 0));
        assertEquals(0x0000, LaneArithmetic.map(16, (a, b) -> a - b, new Signs(false, true, true), true, Selection.all(16), 0x8000, 1, 0));
    }

    @Test
    void averagesRoundByTheSignOfTheSum() {
        assertEquals(2, LaneArithmetic.average(1, 2));
        assertEquals(-2, LaneArithmetic.average(-1, -2));
        assertEquals(0, LaneArithmetic.average(0, 0));
        assertEquals(1, LaneArithmetic.average(-1, 2));
    }

    @Test
    void sumsAreExact() {
        assertEquals(4 * 255 + 7, LaneArithmetic.sum(8, (a, b) -> Math.abs(a - b), UNSIGNED, Selection.all(8), -1, 0, 7));
        assertEquals(4 + 7, LaneArithmetic.sum(8, (a, b) -> Math.abs(a - b), SIGNED, Selection.all(8), -1, 0, 7));
        assertEquals(-4, LaneArithmetic.sum(16, Integer::sum, SIGNED, Selection.all(16), -1, -1, 0));
    }
}
