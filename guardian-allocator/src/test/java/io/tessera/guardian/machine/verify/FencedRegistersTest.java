package io.tessera.guardian.machine.verify;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.machine.CodeWords;
import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.MachineFences;
import io.tessera.guardian.machine.code.Architecture;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.SectionFlow;
import org.junit.jupiter.api.Test;

/** Tests the facts about a register after each instruction, and where paths of execution join. */
class FencedRegistersTest {
    private static final int BASE = 40;
    private static final int HIGH = MachineFences.MASK.baseHigh();
    private static final int SIZE = MachineFences.MASK.mask();
    private static final int AND_OR = 0xea;
    private static final int OR = 0xfc;
    private static final int AND = 0xc0;
    private static final int ALWAYS = InstructionWord.ALWAYS;

    private static CodeWords fence(CodeWords code, int register) {
        return code.logic(register, register, SIZE, BASE, AND_OR);
    }

    /** Returns the facts after the last instruction of straight-line code. */
    private static FencedRegisters after(MachineFence fence, CodeWords code) throws MachineCodeException {
        SectionFlow flow = code.flow();
        FencedRegisters registers = new FencedRegisters(Architecture.SM_90, fence, BASE);
        int cycles = 0;
        for (int i = 0; i < flow.count(); i++) {
            registers.at(i, cycles);
            registers.after(flow.low(i), flow.high(i), flow.operation(i), true);
            cycles += InstructionWord.cycles(flow.high(i));
        }
        registers.at(flow.count(), cycles);
        return registers;
    }

    private static boolean masked(CodeWords code, int predicate) throws MachineCodeException {
        return after(MachineFences.MASK, code).isFenced(3, predicate);
    }

    /** Returns the flow's fact about a register at the start of a block. */
    private static boolean atStart(CodeWords code, int block, int register, int... entered) throws MachineCodeException {
        FencedRegisters registers = new FencedRegisters(Architecture.SM_90, MachineFences.MASK, BASE);
        new RegisterFlow(code.flow(entered), MachineFences.MASK, BASE, _ -> true).enter(registers, block);
        return registers.isFenced(register, ALWAYS);
    }

    @Test
    void aMaskWithTheBaseRegisterFences() throws MachineCodeException {
        assertTrue(masked(fence(new CodeWords(), 3), ALWAYS));
        assertFalse(after(MachineFences.MASK, fence(new CodeWords(), 3)).isFenced(2, ALWAYS));
        assertFalse(masked(new CodeWords().logic(3, 3, SIZE, BASE + 1, AND_OR), ALWAYS), "another base register");
        assertFalse(masked(new CodeWords().logic(3, 3, SIZE + 1, BASE, AND_OR), ALWAYS), "another mask");
        assertFalse(masked(new CodeWords().logic(3, 4, SIZE, BASE, AND_OR), ALWAYS), "of another register, which is no identity");
        assertFalse(masked(new CodeWords().logic(3, 3, SIZE, BASE, 0xfe), ALWAYS), "another function");
    }

    @Test
    void orAndThenAndFence() throws MachineCodeException {
        assertFalse(masked(new CodeWords().logic(3, 3, HIGH, 255, OR), ALWAYS));
        assertTrue(masked(new CodeWords().logic(3, 3, HIGH, 255, OR).logic(3, 3, HIGH | SIZE, 255, AND), ALWAYS));
        assertFalse(masked(new CodeWords().logic(3, 3, HIGH | SIZE, 255, AND).logic(3, 3, HIGH, 255, OR), ALWAYS));
        assertFalse(masked(new CodeWords().logic(3, 3, HIGH, 255, OR).logic(3, 3, HIGH, 255, AND).move(3, 1), ALWAYS));
        assertFalse(masked(new CodeWords().logic(3, 3, HIGH, 255, OR).sum(3, 3, 3).logic(3, 3, HIGH | SIZE, 255, AND), ALWAYS));
        assertFalse(masked(new CodeWords().logic(3, 3, HIGH, 4, OR).logic(3, 3, HIGH | SIZE, 255, AND), ALWAYS), "a third operand");
    }

    @Test
    void aConstantFencesAWindowOfFourGibibytesAlone() throws MachineCodeException {
        int base = MachineFences.LOW_WORD.baseHigh();
        assertTrue(after(MachineFences.LOW_WORD, new CodeWords().move(3, base)).isFenced(3, ALWAYS));
        assertFalse(after(MachineFences.LOW_WORD, new CodeWords().move(3, base + 1)).isFenced(3, ALWAYS));
        assertFalse(after(MachineFences.MASK, new CodeWords().move(3, HIGH)).isFenced(3, ALWAYS));
    }

    @Test
    void aRegisterThatIsWrittenIsForgotten() throws MachineCodeException {
        assertTrue(masked(fence(new CodeWords(), 3).sum(2, 4, 5), ALWAYS));
        assertFalse(masked(fence(new CodeWords(), 3).sum(3, 4, 5), ALWAYS));
        assertFalse(masked(fence(new CodeWords(), 3).wideProduct(2, 4, 5, 6), ALWAYS), "the second register of a result of 64 bits");
        assertFalse(masked(fence(new CodeWords(), 3).loadPair(2, 8), ALWAYS));
        assertFalse(masked(fence(new CodeWords(), 3).sum(3, 4, 5).under(0), ALWAYS), "perhaps written");
    }

    @Test
    void aFenceUnderAPredicateCountsForThatPredicateAloneUntilItMayChange() throws MachineCodeException {
        CodeWords code = fence(new CodeWords(), 3).under(2);
        assertTrue(masked(code, 2));
        assertFalse(masked(code, ALWAYS));
        assertFalse(masked(code, 10), "the negated one");
        assertFalse(masked(code, 1));
        assertFalse(masked(fence(new CodeWords(), 3).under(2).compare(2, 4, 5), 2), "the predicate may have changed");
        assertTrue(masked(fence(new CodeWords(), 3).under(2).nothing().compare(1, 4, 5), 2));
        assertFalse(masked(fence(new CodeWords(), 3).under(2).sum(3, 4, 5), 2));
        FencedRegisters two = after(MachineFences.MASK, fence(fence(new CodeWords(), 3).under(2), 5).under(2));
        assertTrue(two.isFenced(3, 2) && two.isFenced(5, 2));
        FencedRegisters mixed = after(MachineFences.MASK, fence(fence(new CodeWords(), 3).under(2), 5).under(1));
        assertTrue(mixed.isFenced(3, 2) && mixed.isFenced(5, 1));
        assertFalse(mixed.isFenced(3, 1) || mixed.isFenced(5, 2));
    }

    /** {@code VIMNMX} writes two predicates, as comparisons do. */
    @Test
    void aPredicateThatAMinimumWritesBesidesMayHaveChanged() throws MachineCodeException {
        assertTrue(masked(fence(new CodeWords(), 3).under(2).greatest(8, 1, 7, 4, 5), 2));
        assertFalse(masked(fence(new CodeWords(), 3).under(2).greatest(8, 2, 7, 4, 5), 2));
        assertFalse(masked(fence(new CodeWords(), 3).under(2).greatest(8, 1, 2, 4, 5), 2));
    }

    /** {@code IMAD R8, P, R4, R5, R6}: compilers write no predicate there ({@code PT}), but the place is that of one, as in {@code IMAD.WIDE}. */
    @Test
    void aPredicateThatAProductWritesBesidesMayHaveChanged() throws MachineCodeException {
        long under2 = 0x000fe20007840206L;
        assertTrue(masked(fence(new CodeWords(), 3).under(2).add(0x0000000504087224L, 0x000fe200078e0206L), 2), "none");
        assertTrue(masked(fence(new CodeWords(), 3).under(2).add(0x0000000504087224L, under2 & ~(7L << 17) | 1L << 17), 2), "another one");
        for (long form : new long[] {0x0000000504087224L, 0x0000000504087424L, 0x0000000504087824L}) {
            assertFalse(masked(fence(new CodeWords(), 3).under(2).add(form, under2), 2));
        }
        assertFalse(masked(fence(new CodeWords(), 3).under(2).add(0x0000000504087c24L, under2 | 1L << 27), 2), "of a uniform register");
    }

    /** {@code FMNMX.IS_A R8, P, R4, R5, PT} and {@code HMNMX2.IS_A R8, P, P2, R4, R5, PT}. */
    @Test
    void aPredicateThatSaysWhichNumberWasChosen() throws MachineCodeException {
        assertTrue(masked(fence(new CodeWords(), 3).under(2).add(0x0000000504087209L, 0x000fe20003800000L), 2), "not asked for");
        assertTrue(masked(fence(new CodeWords(), 3).under(2).add(0x0000000504087209L, 0x000fe200038000e6L), 2), "another one");
        assertFalse(masked(fence(new CodeWords(), 3).under(2).add(0x0000000504087209L, 0x000fe200038000eaL), 2));
        assertFalse(masked(fence(new CodeWords(), 3).under(2).add(0x0000000504087240L, 0x000fe2000380005eL), 2));
    }

    /** The value that is handed on is the register of before, and may come over instructions of other units. */
    @Test
    void anAddressThatIsHandedOnBeforeItsFenceIsReadyIsForgotten() throws MachineCodeException {
        assertTrue(masked(fence(new CodeWords(), 3).stalling(5).sum(8, 3, 4).reusing(1), ALWAYS));
        assertTrue(masked(fence(new CodeWords(), 3).stalling(1).sum(8, 6, 4).reusing(1).stalling(8), ALWAYS), "another register");
        assertTrue(masked(fence(new CodeWords(), 3).stalling(1).sum(8, 3, 4).stalling(8), ALWAYS), "read alone");
        assertFalse(masked(fence(new CodeWords(), 3).stalling(4).sum(8, 3, 4).reusing(1).stalling(8).nothing(), ALWAYS));
        assertFalse(masked(fence(new CodeWords(), 3).stalling(1).sum(8, 2, 4).reusing(1).stalling(8), ALWAYS), "a pair");
        assertFalse(masked(fence(new CodeWords(), 3).stalling(1).sum(8, 4, 3).reusing(2).stalling(8), ALWAYS));
        assertFalse(masked(fence(new CodeWords(), 3).under(2).stalling(1).sum(8, 3, 4).reusing(1).stalling(8), 2));
        CodeWords between = new CodeWords().logic(3, 3, HIGH, 255, OR).stalling(1).sum(8, 3, 4).reusing(1).stalling(4).nothing()
                .logic(3, 3, HIGH | SIZE, 255, AND);
        assertFalse(masked(between, ALWAYS), "between the steps");
        CodeWords before = fence(new CodeWords(), 3).stalling(1).sum(8, 3, 4).reusing(1).stalling(8).branch(3).exit();
        assertFalse(atStart(before, 3, 3), "in another block");
    }

    @Test
    void aFenceCountsWhenItsResultIsReady() throws MachineCodeException {
        assertFalse(masked(fence(new CodeWords(), 3).stalling(4), ALWAYS));
        assertTrue(masked(fence(new CodeWords(), 3).stalling(5), ALWAYS));
        assertTrue(masked(fence(new CodeWords(), 3).stalling(2).nothing().stalling(3), ALWAYS));
        assertFalse(masked(fence(new CodeWords(), 3).under(2).stalling(4), 2));
        assertFalse(masked(new CodeWords().logic(3, 3, HIGH, 255, OR).stalling(4).logic(3, 3, HIGH | SIZE, 255, AND), ALWAYS), "between the steps");
    }

    @Test
    void whatIsNotReadyAtTheEndOfABlockIsNotKnownInTheNext() throws MachineCodeException {
        assertTrue(atStart(fence(new CodeWords(), 3).branch(2).stalling(5).exit(), 2, 3));
        assertFalse(atStart(fence(new CodeWords(), 3).stalling(2).branch(2).stalling(2).exit(), 2, 3));
    }

    @Test
    void stepsOfOtherFencesKeepAnAddressInTheWindow() throws MachineCodeException {
        assertTrue(masked(fence(new CodeWords(), 3).logic(3, 3, HIGH, 255, OR).under(1), ALWAYS));
        assertFalse(masked(fence(new CodeWords(), 3).logic(3, 3, HIGH + 1, 255, OR).under(1), ALWAYS));
    }

    @Test
    void aFenceBeforeAPredicatedAccessCounts() throws MachineCodeException {
        assertTrue(masked(fence(new CodeWords(), 3), 2));
    }

    @Test
    void onAJoinOnlyWhatAllWaysKnowIsKnown() throws MachineCodeException {
        CodeWords both = fence(fence(new CodeWords().branch(3).under(0), 3).branch(4), 3).exit();
        assertTrue(atStart(both, 4, 3));
        CodeWords one = fence(new CodeWords().branch(3).under(0), 3).branch(4).nothing().exit();
        assertFalse(atStart(one, 4, 3));
    }

    @Test
    void aLoopLosesWhatItsBodyOverwrites() throws MachineCodeException {
        CodeWords keeps = fence(new CodeWords(), 3).load(0, 8).branch(1).under(0).exit();
        CodeWords losing = fence(new CodeWords(), 3).load(0, 8).sum(3, 4, 5).branch(1).under(0).exit();
        assertFalse(atStart(keeps, 1, 3), "the load may write four registers from R0 on");
        assertTrue(atStart(fence(new CodeWords(), 3).load(12, 8).branch(1).under(0).exit(), 1, 3));
        assertFalse(atStart(losing, 1, 3));
        CodeWords nested = fence(new CodeWords(), 3).nothing().nothing().branch(2).under(0).sum(3, 4, 5).under(1).branch(1).under(2).exit();
        assertFalse(atStart(nested, 1, 3));
        assertFalse(atStart(nested, 2, 3));
    }

    @Test
    void aCallForgetsAll() throws MachineCodeException {
        CodeWords call = fence(new CodeWords(), 3).move(20, 0x30).call(4).exit().returnBy(20);
        assertFalse(atStart(call, 3, 3));
        assertFalse(atStart(call, 4, 3), "what is called may be called from elsewhere");
        assertFalse(atStart(fence(new CodeWords(), 3).callSymbol().exit(), 2, 3));
    }

    @Test
    void aPlaceThatIsEnteredFromElsewhereKnowsNothing() throws MachineCodeException {
        CodeWords code = fence(new CodeWords(), 3).branch(2).exit();
        assertTrue(atStart(code, 2, 3));
        assertFalse(atStart(code, 2, 3, 2));
    }

    @Test
    void threadsThatMeetKnowWhatAllThatWaitKnow() throws MachineCodeException {
        CodeWords code = fence(new CodeWords().meeting(0, 5), 3).branch(4).under(0).sum(3, 4, 5).meet(0).exit();
        assertFalse(atStart(code, 5, 3));
        assertTrue(atStart(fence(new CodeWords().meeting(0, 5), 3).branch(4).under(0).sum(12, 4, 5).meet(0).exit(), 5, 3));
    }

    @Test
    void codeThatNoWayLeadsToKnowsNothing() throws MachineCodeException {
        assertFalse(atStart(fence(new CodeWords(), 3).exit().nothing().exit(), 2, 3));
        assertEquals(2, fence(new CodeWords(), 3).exit().nothing().exit().flow().blockEnd(0));
    }
}
