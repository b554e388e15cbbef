package io.tessera.guardian.machine.code;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

/** Fields of an instruction are read where they are written, and nothing else changes. */
class InstructionWordTest {
    private static final long LOW_OF_DISTANCE = 0xffL << 16 | ((1L << 30) - 1) << 34;
    private static final long HIGH_OF_DISTANCE = 0x3ffff;

    @Property(tries = 500)
    void aDistanceIsReadAsItWasWritten(@ForAll long low, @ForAll long high, @ForAll @LongRange(min = -(1L << 55), max = (1L << 55) - 1) long words) {
        long distance = words * 4;
        long changedLow = Architecture.SM_90.withDistanceLow(low, distance);
        long changedHigh = Architecture.SM_90.withDistanceHigh(high, distance);
        assertEquals(distance, Architecture.SM_90.distance(changedLow, changedHigh));
        assertEquals(low & ~LOW_OF_DISTANCE, changedLow & ~LOW_OF_DISTANCE);
        assertEquals(high & ~HIGH_OF_DISTANCE, changedHigh & ~HIGH_OF_DISTANCE);
        assertEquals(low, Architecture.SM_90.withDistanceLow(changedLow, Architecture.SM_90.distance(low, high)));
        assertEquals(high, Architecture.SM_90.withDistanceHigh(changedHigh, Architecture.SM_90.distance(low, high)));
    }

    /** Before sm_90 the two bits below the distance say what kind of branch it is, and bits 16 to 31 have a uniform register. */
    @Property(tries = 500)
    void aDistanceBeforeSm90IsReadAsItWasWritten(@ForAll long low, @ForAll long high,
            @ForAll @LongRange(min = -(1L << 47), max = (1L << 47) - 1) long words) {
        long distance = words * 4;
        long changedLow = Architecture.SM_80.withDistanceLow(low, distance);
        long changedHigh = Architecture.SM_80.withDistanceHigh(high, distance);
        assertEquals(distance, Architecture.SM_80.distance(changedLow, changedHigh));
        assertEquals(low & (1L << 34) - 1, changedLow & (1L << 34) - 1);
        assertEquals(high & ~0x3ffffL, changedHigh & ~0x3ffffL);
    }

    /** The words that ptxas writes for {@code BRA} to itself at the end of every function; the last one is {@code BRA.DIV ~URZ} from 0x10 to 0x20f0. */
    @Test
    void aBranchToItselfGoesBackByAnInstruction() {
        assertEquals(-16, Architecture.SM_90.distance(0xfffffffc00fc7947L, 0x000fc0000383ffffL));
        assertNotEquals(-16, Architecture.SM_90.distance(0xfffffffc00fc7947L, 0x000fc0000381ffffL), "bit 81 is the sign");
        assertEquals(-16, Architecture.SM_80.distance(0xfffffff000007947L, 0x000fc0000383ffffL));
        assertEquals(-16, Architecture.SM_86.distance(0xfffffff000007947L, 0x000fc0000383ffffL));
        assertEquals(0x20d0, Architecture.SM_89.distance(0x000020d27f007947L, 0x000fea000b800000L));
    }

    @Property(tries = 200)
    void anImmediateReplacesTheUpperHalf(@ForAll long low, @ForAll int immediate) {
        long changed = InstructionWord.withImmediate(low, immediate);
        assertEquals(immediate, InstructionWord.immediate(changed));
        assertEquals((int) low, (int) changed);
    }

    /** {@code @!P2 LDG.E R7, desc[UR4][R2.64]} that waits for scoreboards 0 and 3 and releases 1 when its result is there. */
    @Test
    void fieldsLieWhereNvdisasmSeesThem() {
        long low = 0x000000040207a981L;
        long high = 0x00966a000c1e1900L;
        assertEquals(0x1981, InstructionWord.key(low, high));
        assertEquals(7, InstructionWord.destination(low));
        assertEquals(2, InstructionWord.source(low));
        assertEquals(10, InstructionWord.predicate(low));
        assertEquals(9, InstructionWord.waits(high));
        assertEquals(1, InstructionWord.writeScoreboard(high));
        assertEquals(3, InstructionWord.readScoreboard(high));
    }

    @Test
    void controlBitsHaveNoScoreboardOfTheirOwn() {
        long control = InstructionWord.control(5, 0x21);
        assertEquals(0x21, InstructionWord.waits(control));
        assertEquals(7, InstructionWord.writeScoreboard(control));
        assertEquals(7, InstructionWord.readScoreboard(control));
        assertEquals(5, control >>> 41 & 0xf);
        assertFalse(InstructionWord.reuses(control));
    }

    @Property(tries = 200)
    void withoutReuseNothingElseChanges(@ForAll long high) {
        long without = InstructionWord.withoutReuse(high);
        assertFalse(InstructionWord.reuses(without));
        assertEquals(high & ~(0xfL << 58), without);
        assertTrue(InstructionWord.reuses(high) == (high != without));
    }
}
