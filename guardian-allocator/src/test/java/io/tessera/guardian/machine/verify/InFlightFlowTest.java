package io.tessera.guardian.machine.verify;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.machine.CodeWords;
import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.MachineFences;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Results that are in flight when a fence is executed. Each refusal has an accepted twin, in which something waits. */
class InFlightFlowTest {
    private static final int BASE = 40;
    private static final String UNSEEN = "not seen to be in the window";
    /** {@code LDS R3, [R8]} without a scoreboard. */
    private static final long LOAD_SHARED = 0x0000000008037984L;
    private static final long LOAD_SHARED_HIGH = 0x000fe20000000800L;
    /** {@code MUFU.RCP R3, R8} without a scoreboard. */
    private static final long FUNCTION = 0x0000000800037308L;
    private static final long FUNCTION_HIGH = 0x000fe20000001000L;
    /** {@code HMMA.16816.F32 R2, R4, R8, R2}: writes four registers. */
    private static final long MATRIX = 0x000000080402723cL;
    private static final long MATRIX_HIGH = 0x000fe20000001802L;
    /** {@code HGMMA R24, gdesc[UR4], RZ, !UPT}, of up to 128 registers; without and with the end of its group. */
    private static final long GROUP = 0x03e00000041879f0L;
    private static final long GROUP_HIGH = 0x000fe2000c7008ffL;
    private static final long GROUP_END_HIGH = 0x000fe2000c0008ffL;
    private static final int IN_GROUP = 25;

    private static CodeWords start() {
        return new CodeWords().move(BASE, MachineFences.MASK.baseHigh());
    }

    private static CodeWords fence(CodeWords code, int register) {
        return code.logic(register, register, MachineFences.MASK.mask(), BASE, 0xea);
    }

    /** With another scoreboard for the result of the last instruction. */
    private static CodeWords add(CodeWords code, long low, long high, int scoreboard) {
        return code.add(low, high & ~(7L << 46) | (long) scoreboard << 46);
    }

    private static String verify(CodeWords code, boolean kernel, int... entered) throws MachineCodeException {
        return new SectionVerifier(code.flow(entered), MachineFences.MASK, Set.of(), kernel, false, false).verify();
    }

    private static void accepts(CodeWords code, int... entered) {
        assertDoesNotThrow(() -> verify(code, true, entered));
    }

    private static void refuses(CodeWords code, int... entered) {
        String why = assertThrows(MachineCodeException.class, () -> verify(code, true, entered)).getMessage();
        assertTrue(why.contains(UNSEEN), why);
    }

    /** {@code LDG R2..R3} into the address, which has scoreboard 2, then a fence of R3 that waits for some, and the access. */
    private static CodeWords loaded(int waits) {
        CodeWords code = fence(fence(start(), 9).loadPair(2, 8), 3).waiting(waits);
        return code.load(12, 2).exit();
    }

    @Test
    void aLoadThatWritesTheRegisterBehindTheFence() {
        accepts(loaded(1 << 2));
        refuses(loaded(0));
        refuses(loaded(1 << 1));
    }

    /** The scoreboard is not taken yet when the next instruction looks. */
    @Test
    void aWaitInTheCycleBehind() {
        refuses(fence(fence(start(), 9).loadPair(2, 8).stalling(1), 3).waitingAtOnce(1 << 2).load(12, 2).exit());
        accepts(fence(fence(start(), 9).loadPair(2, 8).stalling(2), 3).waitingAtOnce(1 << 2).load(12, 2).exit());
        accepts(fence(fence(start(), 9).loadPair(2, 8).stalling(1).nothing().stalling(1), 3).waitingAtOnce(1 << 2).load(12, 2).exit());
        refuses(fence(fence(start(), 9).loadPair(2, 8).stalling(1).nothing().stalling(0), 3).waitingAtOnce(1 << 2).load(12, 2).exit());
    }

    @Test
    void aFenceThatWaitsOnOneWayAlone() {
        CodeWords one = fence(start(), 9).loadPair(2, 8).branch(5).under(0).nothing().waiting(1 << 2);
        refuses(fence(one, 3).load(12, 2).exit());
        CodeWords both = fence(start(), 9).loadPair(2, 8).branch(5).under(0).waiting(1 << 2).nothing();
        accepts(fence(both, 3).load(12, 2).exit());
    }

    @Test
    void aLoadInALoop() {
        accepts(fence(fence(start(), 9), 3).load(12, 2).waiting(1 << 2).loadPair(2, 8).branch(1).under(0).waiting(1 << 2).exit());
        refuses(fence(fence(start(), 9), 3).load(12, 2).loadPair(2, 8).branch(1).under(0).exit());
    }

    @Test
    void aResultWithoutAScoreboardIsNeverThere() {
        for (long[] word : new long[][] {{LOAD_SHARED, LOAD_SHARED_HIGH}, {FUNCTION, FUNCTION_HIGH}, {0x0000000000037919L, 0x000fe20000002100L}}) {
            accepts(fence(add(start(), word[0], word[1], 1), 3).waiting(2).load(12, 2).exit());
            refuses(fence(add(start(), word[0], word[1], 1), 3).load(12, 2).exit());
            refuses(fence(add(start(), word[0], word[1], 7), 3).waiting(0x3f).load(12, 2).exit());
            refuses(fence(add(start(), word[0], word[1], 7).nothing().stalling(15).nothing().stalling(15), 3).waiting(0x3f).load(12, 2).exit());
        }
    }

    /**
     * For loads of shared memory, which a unit takes in order, compilers have the last one release a scoreboard. Another unit says nothing
     * of them.
     */
    @Test
    void aLaterResultOfTheSameUnitSaysThatAnEarlierOneIsThere() {
        long other = LOAD_SHARED & ~(0xffL << 16) | 10L << 16;
        long otherFunction = FUNCTION & ~(0xffL << 16) | 10L << 16;
        accepts(fence(add(add(start(), LOAD_SHARED, LOAD_SHARED_HIGH, 7), other, LOAD_SHARED_HIGH, 1), 3).waiting(2).load(12, 2).exit());
        refuses(fence(add(add(start(), other, LOAD_SHARED_HIGH, 1), LOAD_SHARED, LOAD_SHARED_HIGH, 7), 3).waiting(2).load(12, 2).exit());
        refuses(fence(add(add(start(), LOAD_SHARED, LOAD_SHARED_HIGH, 7), otherFunction, FUNCTION_HIGH, 1), 3).waiting(2).load(12, 2).exit());
    }

    @Test
    void onEachWayAnotherScoreboard() {
        CodeWords ways = add(add(start().branch(4).under(0), LOAD_SHARED, LOAD_SHARED_HIGH, 1).branch(5), LOAD_SHARED, LOAD_SHARED_HIGH, 3);
        accepts(fence(add(add(start().branch(4).under(0), LOAD_SHARED, LOAD_SHARED_HIGH, 1).branch(5), LOAD_SHARED, LOAD_SHARED_HIGH, 3), 3)
                .waiting(0xa).load(12, 2).exit());
        refuses(fence(ways, 3).waiting(2).load(12, 2).exit());
    }

    /** Matrices take some thirty cycles, which nothing waits for. */
    @Test
    void aResultThatTakesLongerThanTheFence() {
        refuses(fence(start().add(MATRIX, MATRIX_HIGH), 3).load(12, 2).exit());
        CodeWords later = start().add(MATRIX, MATRIX_HIGH);
        for (int i = 0; i < 6; i++) {
            later.nothing().stalling(11);
        }
        accepts(fence(later, 3).load(12, 2).exit());
    }

    /** Bit 109 with a stall of more than 11 cycles is not written by compilers: it may count as none. */
    @Test
    void stallsThatNoCompilerWrites() {
        long keep = 1L << 45;
        CodeWords odd = start().add(MATRIX, MATRIX_HIGH);
        CodeWords usual = start().add(MATRIX, MATRIX_HIGH);
        for (int i = 0; i < 6; i++) {
            odd.add(0x7918, 0x000fc00000000000L | keep | 15L << 41);
            usual.add(0x7918, 0x000fc00000000000L & ~keep | 15L << 41);
        }
        accepts(fence(usual, 3).load(12, 2).exit());
        refuses(fence(odd, 3).load(12, 2).exit());
        refuses(start().add(0x0000001f03037812L, 0x078eea28L | keep | 12L << 41 | 7L << 46 | 7L << 49).load(12, 2).exit());
    }

    @Test
    void matricesByDescriptorsUntilTheirGroupIsWaitedFor() {
        long wait = 0x00008000000079c5L;
        long waitHigh = 0x000fe40000010000L;
        CodeWords code = new CodeWords().add(GROUP, GROUP_HIGH).add(GROUP, GROUP_END_HIGH);
        refuses(two(code).load(8, IN_GROUP - 1).exit());
        accepts(two(new CodeWords().add(GROUP, GROUP_HIGH).add(GROUP, GROUP_END_HIGH).add(wait, waitHigh)).load(8, IN_GROUP - 1).exit());
        refuses(two(new CodeWords().add(GROUP, GROUP_HIGH).add(wait, waitHigh)).load(8, IN_GROUP - 1).exit());
        refuses(two(new CodeWords().add(GROUP, GROUP_END_HIGH).add(wait, waitHigh | 0x100)).load(8, IN_GROUP - 1).exit());
    }

    /** 64 times 8 numbers are four registers, 64 times 16 are eight. */
    @Test
    void aMatrixWritesAsManyRegistersAsItIsWide() {
        for (long opcode : new long[] {0x19f0, 0x19f3}) {
            long narrow = GROUP & ~(0x1fL << 53) & ~0xff1fffL | 20L << 16 | 7L << 12 | opcode & 0xfff;
            accepts(two(new CodeWords().add(narrow, GROUP_END_HIGH)).load(8, IN_GROUP - 1).exit());
            refuses(two(new CodeWords().add(narrow | 1L << 53, GROUP_END_HIGH)).load(8, IN_GROUP - 1).exit());
        }
        long integers = GROUP & ~(0x1fL << 53) & ~0xff1fffL | 20L << 16 | 7L << 12 | 0x9f1;
        refuses(two(new CodeWords().add(integers, GROUP_END_HIGH)).load(8, IN_GROUP - 1).exit());
    }

    /** {@code ATOMS.POPC.INC.32 RZ, [R8+URZ+0x3c]} has zeros where other instructions name P0. */
    @Test
    void anAtomicOnSharedMemoryWritesNoPredicate() {
        accepts(fence(start().add(0x00003c0008ff7f8cL, 0x000fe4000d80003fL), 3).under(0).load(12, 2).under(0).exit());
    }

    /** {@code F2IP.S8.F32.NTZ R3, R16, R23, RZ} has no scoreboard and is arithmetic. */
    @Test
    void aConversionOfPairsHasAFixedLatency() {
        accepts(fence(start().add(0x0000001710037243L, 0x000fe200000014ffL).stalling(2), 3).load(12, 2).exit());
        refuses(fence(start().add(0x0000001710037243L, 0x000fe200000014ffL).stalling(1), 3).load(12, 2).exit());
    }

    /** A fence without a register for the base. */
    private static CodeWords two(CodeWords code) {
        int high = MachineFences.MASK.baseHigh();
        return code.logic(IN_GROUP, IN_GROUP, high, 255, 0xfc).logic(IN_GROUP, IN_GROUP, high | MachineFences.MASK.mask(), 255, 0xc0);
    }

    /** The fence is not executed, and the access is. */
    @Test
    void aPredicateThatChangesBetweenFenceAndAccess() {
        accepts(fence(start().compare(2, 6, 7), 3).under(2).load(12, 2).under(2).exit());
        refuses(fence(start().compare(2, 6, 7).stalling(12), 3).under(2).load(12, 2).under(2).exit());
        accepts(fence(start().compare(1, 6, 7).stalling(1), 3).under(2).load(12, 2).under(2).exit());
        refuses(fence(start().add(0x000000020b007804L | 4L << 32, 0x000fe20000000000L), 3).under(2).load(12, 2).under(2).exit());
        long shuffle = 0x08001f1205097589L & ~0xf000L | 7L << 12;
        refuses(fence(start().add(shuffle, 0x0002a200000e0000L & ~(7L << 17) | 2L << 17), 3).under(2).load(12, 2).under(2).exit());
    }

    /** {@code ATOM.E.ADD.F16x2 P0, RZ, [R4.64], R3} returns no value, but says whether the address was one of global memory. */
    @Test
    void aPredicateThatIsThereByTheScoreboardForSources() {
        long low = 0x0000000304ff79a2L;
        long high = 0x000fe4000810e17fL;
        long bySources = high & ~(7L << 49) | 2L << 49;
        accepts(fence(fence(start(), 5).add(low, bySources), 3).under(0).waiting(1 << 2).load(12, 2).under(0).exit());
        refuses(fence(fence(start(), 5).add(low, bySources), 3).under(0).waiting(1 << 1).load(12, 2).under(0).exit());
        refuses(fence(fence(start(), 5).add(low, high), 3).under(0).waiting(0x3f).load(12, 2).under(0).exit());
        long value = low & ~(0xffL << 16) | 3L << 16;
        refuses(fence(fence(start(), 5).add(value, bySources), 3).waiting(1 << 2).load(12, 2).exit());
    }

    /** The fence would take an operand from the instruction before it, and the access the one of the fence. */
    @Test
    void operandsThatAreHandedOn() {
        accepts(fence(start().sum(10, 3, 7), 3).load(12, 2).exit());
        refuses(fence(start().sum(10, 3, 7).reusing(1), 3).load(12, 2).exit());
        refuses(fence(start(), 3).reusing(1).load(12, 2).exit());
        assertThrows(MachineCodeException.class, () -> verify(fence(start().branch(2).under(0).reusing(1), 3).load(12, 2).exit(), true));
    }

    @Test
    void aFunctionIsCalledAndReturnsWithNothingInFlight() {
        CodeWords function = fence(new CodeWords().nothing(), 9).returnBy(20);
        assertDoesNotThrow(() -> verify(function, false));
        CodeWords leaving = add(new CodeWords(), LOAD_SHARED, LOAD_SHARED_HIGH, 1).returnBy(20);
        assertEquals("a RET while results are in flight at offset 0x10",
                assertThrows(MachineCodeException.class, () -> verify(leaving, false)).getMessage());
        assertDoesNotThrow(() -> verify(add(new CodeWords(), LOAD_SHARED, LOAD_SHARED_HIGH, 1).returnBy(20).waiting(2), false));
    }

    /** The function inside the section waits for nothing, so that what its caller loads is in flight in it and behind it. */
    @Test
    void aLoadThatIsInFlightOverACall() {
        CodeWords inside = fence(fence(start(), 9).loadPair(2, 8).move(20, 0x50).call(6).exit(), 3).load(12, 2).returnBy(20);
        refuses(inside, 6);
        CodeWords behind = fence(fence(start(), 9).loadPair(2, 8).move(20, 0x50).call(8), 3).load(12, 2).exit().returnBy(20);
        refuses(behind, 8);
        accepts(fence(fence(start(), 9).loadPair(2, 8).move(20, 0x50).call(8).waiting(4), 3).load(12, 2).exit().returnBy(20), 8);
    }

    /** Not refused, since compilers do it where they know better, but said. */
    @Test
    void anAddressThatChangesBeforeTheAccessHasReadIt() throws MachineCodeException {
        assertNull(verify(fence(start(), 3).load(12, 2).sum(3, 6, 7).waiting(4).exit(), true), "the result is there");
        assertNotNull(verify(fence(start(), 3).load(12, 2).sum(3, 6, 7).exit(), true));
        assertNotNull(verify(fence(start(), 3).store(2, 8).sum(3, 6, 7).waiting(0x3f).exit(), true), "the store releases no scoreboard");
        assertNull(verify(fence(fence(start(), 3).store(2, 8), 3).store(2, 8).exit(), true), "a fence changes nothing");
        assertNull(verify(fence(fence(start(), 3).store(2, 8), 5).load(12, 4).sum(3, 6, 7).waiting(4).exit(), true), "accesses read in order");
    }

    private static CodeWords report(CodeWords before, MachineFence fence, int stall) {
        return before.move(0, 0x1000).waiting(0x3f).move(1, 0x2000).move(2, fence.reported(MachineFence.TRAP)).stalling(stall)
                .add(ReportSequence.STORE | 0x7000, ReportSequence.STORE_HIGH | 1L << 41 | 0x3fL << 46)
                .add(ReportSequence.EXIT | 0x7000, ReportSequence.EXIT_HIGH | 5L << 41 | 0x3fL << 46).exit();
    }

    @Test
    void aReportWhoseAddressIsStillWritten() throws MachineCodeException {
        MachineFence fence = MachineFences.MASK.reporting(0x2000_0000_1000L, 5);
        for (long register = 0; register < 3; register++) {
            long load = LOAD_SHARED & ~(0xffL << 16) | register << 16;
            assertNull(new SectionVerifier(report(add(new CodeWords(), load, LOAD_SHARED_HIGH, 1), fence, 5).flow(), fence, Set.of()).verify());
            CodeWords late = report(add(new CodeWords(), load, LOAD_SHARED_HIGH, 7), fence, 5);
            assertThrows(MachineCodeException.class, () -> new SectionVerifier(late.flow(), fence, Set.of()).verify());
        }
        CodeWords early = report(new CodeWords(), fence, 2);
        assertThrows(MachineCodeException.class, () -> new SectionVerifier(early.flow(), fence, Set.of()).verify(), "the store may read what R1 was");
    }
}
