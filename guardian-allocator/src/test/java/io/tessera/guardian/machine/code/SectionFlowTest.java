package io.tessera.guardian.machine.code;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.machine.CodeWords;
import io.tessera.guardian.machine.MachineCodeException;
import java.util.Arrays;
import java.util.stream.Stream;
import java.util.BitSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Ways through code are those of the machine, and code that is not understood is refused. */
class SectionFlowTest {
    private static String refusal(CodeWords code) {
        return assertThrows(MachineCodeException.class, code::flow).getMessage();
    }

    private static int[] successors(SectionFlow flow, int last) {
        int[] next = flow.successors(last);
        Arrays.sort(next);
        return next;
    }

    @Test
    void aBranchHasItsTargetAndUnderAPredicateTheNextInstruction() throws MachineCodeException {
        SectionFlow always = new CodeWords().branch(2).exit().exit().flow();
        assertArrayEquals(new int[] {2}, always.successors(0));
        SectionFlow perhaps = new CodeWords().branch(2).under(3).exit().exit().flow();
        assertArrayEquals(new int[] {1, 2}, successors(perhaps, 0));
        assertEquals(2, perhaps.target(0));
        assertEquals(SectionFlow.NONE, perhaps.target(1));
    }

    /** The second condition of {@code BRA P0, place} is in bits 87 to 90. */
    @Test
    void aBranchWithASecondConditionMayGoOn() throws MachineCodeException {
        CodeWords code = new CodeWords().branch(2).exit().exit();
        long[] words = code.words();
        SectionFlow flow = new CodeWords().add(words[0], words[1] & ~(0xfL << 23)).add(words[2], words[3]).add(words[4], words[5]).flow();
        assertArrayEquals(new int[] {1, 2}, successors(flow, 0));
    }

    @ParameterizedTest
    @MethodSource("leaving")
    void aJumpOutOfTheSectionIsRefused(CodeWords leaving, String why) {
        assertEquals(why, refusal(leaving));
    }

    /** With a bit of the second word of the first instruction, which belongs to the distance. */
    private static CodeWords far(CodeWords code, int bit) {
        long[] words = code.words();
        return new CodeWords().add(words[0], words[1] | 1L << bit).exit();
    }

    static Stream<Object[]> leaving() {
        return Stream.of(new Object[] {new CodeWords().nothing().branch(3).exit(), "a BRA that leaves its function at offset 0x10"},
                new Object[] {new CodeWords().branch(-1).exit(), "a BRA that leaves its function at offset 0x0"},
                new Object[] {new CodeWords().call(9).exit(), "a CALL that leaves its function at offset 0x0"},
                new Object[] {new CodeWords().meeting(0, 2).exit(), "a BSSY that leaves its function at offset 0x0"},
                new Object[] {far(new CodeWords().branch(1).exit(), 17), "a BRA that leaves its function at offset 0x0"},
                new Object[] {far(new CodeWords().call(1).exit(), 17), "a CALL that leaves its function at offset 0x0"},
                new Object[] {far(new CodeWords().meeting(0, 1).exit(), 3), "a BSSY that leaves its function at offset 0x0"},
                new Object[] {new CodeWords().meeting(0, -4).exit(), "a BSSY that leaves its function at offset 0x0"});
    }

    @Test
    void aJumpIntoTheMiddleOfAnInstructionIsRefused() {
        long[] words = new CodeWords().branch(1).exit().words();
        CodeWords between = new CodeWords().add(Architecture.SM_90.withDistanceLow(words[0], 8), words[1]).exit();
        assertEquals("a BRA that leaves its function at offset 0x0", refusal(between));
    }

    @Test
    void anUnknownInstructionIsNamedByOpcodeAndOffset() {
        assertEquals("an instruction that is not known (opcode 0x958) at offset 0x20",
                refusal(new CodeWords().nothing().nothing().add(0x7958, 0x000fea0003800000L).exit()));
        assertEquals("an instruction that is not known (opcode 0x0) at offset 0x0", refusal(new CodeWords().add(0, 0).exit()));
        assertEquals("an instruction that is not known (opcode 0x1fff) at offset 0x0", refusal(new CodeWords().add(-1, -1).exit()));
    }

    @Test
    void threadsThatMeetGoOnAtEveryPlaceOfTheirBarrier() throws MachineCodeException {
        CodeWords code = new CodeWords().meeting(0, 4).meeting(1, 5).meet(0).meet(1).nothing().exit();
        SectionFlow flow = code.flow();
        assertArrayEquals(new int[] {3, 4}, successors(flow, 2));
        assertArrayEquals(new int[] {4, 5}, successors(flow, 3));
        assertTrue(flow.isLeader(4) && flow.isLeader(5));
        SectionFlow two = new CodeWords().meeting(2, 3).meeting(2, 4).meet(2).nothing().exit().flow();
        assertArrayEquals(new int[] {3, 3, 4}, successors(two, 2));
    }

    @Test
    void aCallEntersItsTargetAndGoesOnBehindIt() throws MachineCodeException {
        SectionFlow flow = new CodeWords().move(20, 0x20).call(3).exit().returnBy(20).flow();
        assertTrue(flow.isEntered(3));
        assertFalse(flow.isEntered(2));
        assertArrayEquals(new int[] {2}, flow.successors(1));
        assertArrayEquals(new int[0], flow.successors(3));
        assertEquals(Kind.RETURN, flow.operation(3).kind());
    }

    @Test
    void theStartAndPlacesThatTheCubinNamesAreEntered() throws MachineCodeException {
        SectionFlow flow = new CodeWords().branchByTable(4).nothing().exit().nothing().exit().flow(1, 3);
        assertTrue(flow.isEntered(0) && flow.isEntered(1) && flow.isEntered(3));
        assertFalse(flow.isEntered(2) || flow.isEntered(4));
        assertEquals(1, flow.blockEnd(0));
        assertEquals(3, flow.blockEnd(1));
        assertEquals(5, flow.blockEnd(3));
    }

    /** Registers of returns and tables hold offsets in the section. */
    @Test
    void aReturnFromAnotherBaseIsRefused() {
        long[] words = new CodeWords().nothing().returnBy(20).words();
        CodeWords other = new CodeWords().nothing().add(Architecture.SM_90.withDistanceLow(words[2], -16), words[3]);
        assertEquals("a RET to a place that is not known at offset 0x10", refusal(other));
    }

    @Test
    void codeEndsWhereItsLastInstructionBesideNopsDoes() throws MachineCodeException {
        assertTrue(new CodeWords().exit().nothing().nothing().flow().ends());
        assertTrue(new CodeWords().branch(0).flow().ends());
        assertTrue(new CodeWords().exit().returnBy(20).flow().ends());
        assertFalse(new CodeWords().exit().move(1, 1).flow().ends());
        assertFalse(new CodeWords().exit().under(0).flow().ends());
        assertFalse(new CodeWords().call(0).flow().ends());
        assertFalse(new CodeWords().nothing().flow().ends());
    }

    /** {@code EXIT} has a second condition in bits 87 to 90, as {@code BRA} has. */
    @Test
    void anExitWithASecondConditionMayGoOn() throws MachineCodeException {
        assertFalse(new CodeWords().exit().add(0x794d, 0x000fea0000000000L).flow().ends());
    }

    /** Each block takes memory wherever ways through the code are followed. */
    @Test
    void aSectionHasFewBlocks() throws MachineCodeException {
        int most = 1 << 16;
        assertEquals(most, exits(most).count());
        assertEquals("more than 65536 blocks", assertThrows(MachineCodeException.class, () -> exits(most + 1)).getMessage());
    }

    private static SectionFlow exits(int blocks) throws MachineCodeException {
        long[] words = new long[2 * blocks];
        for (int i = 0; i < words.length; i += 2) {
            words[i] = CodeWords.EXIT;
            words[i + 1] = 0x000fea0003800000L;
        }
        return SectionFlow.of(Architecture.SM_90, words, new BitSet());
    }
}
