package io.tessera.guardian.machine.look;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.tessera.guardian.machine.CodeWords;
import io.tessera.guardian.machine.MachineFences;
import io.tessera.guardian.machine.code.SectionFlow;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests which loops may wait for other blocks, and the facts that a section reports to its callers. */
@Timeout(60)
class WaitingLoopsTest {
    private static final int SCOPE_AT = 13;
    private static final int WEAK = 0;
    private static final int OF_GPU = 7;
    private static final int ZERO = 255;
    /** {@code MEMBAR.SC}, scope in bits 76 to 78, and {@code CCTL.IVALL}. */
    private static final long BARRIER = 0x7992;
    private static final long BARRIER_HIGH = 0x000fec0000000000L;
    private static final long INVALIDATE = 0xff00798fL;
    private static final long INVALIDATE_HIGH = 0x000fe80002000000L;

    private static SectionWaits waiting(CodeWords code, int... entered) throws Exception {
        SectionFlow flow = code.flow(entered);
        return new SectionLoops(flow, _ -> false).waiting(Looks.of(flow, MachineFences.MASK));
    }

    private static CodeWords load(CodeWords code, int scope) {
        return code.add(0x0000000402047981L, 0x000ea2000c1e1900L | (long) scope << SCOPE_AT);
    }

    /** {@code ATOMG.E.ADD.STRONG.GPU PT, Rd, desc[UR4][R2.64], R7}. */
    private static CodeWords atomic(CodeWords code, int result) {
        return code.add(0x00000007020079a8L | (long) result << 16, 0x002ea800081ee1c4L);
    }

    /** Goes back as long as something loaded is not zero. */
    private static CodeWords again(CodeWords code, int to) {
        return code.compare(0, 4, 5).branch(to).under(0).exit();
    }

    @ParameterizedTest
    @CsvSource({"0, false", "4, false", "5, false", "7, true", "10, true", "12, true", "15, true"})
    void aLoadWaitsByItsScope(int scope, boolean waits) throws Exception {
        String expected = waits ? "a loop with LDG at offset 0x0" : null;
        assertEquals(expected, waiting(again(load(new CodeWords(), scope), 0)).waits());
    }

    @Test
    void aLoadOutsideOfLoopsDoesNotWait() throws Exception {
        assertNull(waiting(again(load(new CodeWords(), OF_GPU).nothing(), 1)).waits());
        assertNull(waiting(load(again(new CodeWords().nothing(), 0), OF_GPU)).waits());
    }

    @ParameterizedTest
    @CsvSource({"0, 0, false", "2, 0, true", "3, 0, true", "2, 5, true", "2, 4, false", "0, 5, false"})
    void aWeakLoadWaitsWhereALoopFencesMemoryBeyondItsBlock(int barrier, int scope, boolean waits) throws Exception {
        CodeWords code = load(new CodeWords().add(BARRIER, BARRIER_HIGH | (long) barrier << 12), scope);
        assertEquals(waits ? "a loop with LDG at offset 0x10" : null, waiting(again(code, 0)).waits());
    }

    @Test
    void aWeakLoadWaitsWhereALoopDropsItsCache() throws Exception {
        assertNotNull(waiting(again(load(new CodeWords(), WEAK).add(INVALIDATE, INVALIDATE_HIGH), 0)).waits());
        assertNull(waiting(again(load(new CodeWords().add(INVALIDATE, INVALIDATE_HIGH), WEAK), 1)).waits(), "it is dropped before the loop");
    }

    @Test
    void anAtomicOperationWaitsIfItReturnsSomething() throws Exception {
        assertEquals("a loop with ATOMG at offset 0x0", waiting(again(atomic(new CodeWords(), 4), 0)).waits());
        assertNull(waiting(again(atomic(new CodeWords(), ZERO), 0)).waits());
        assertNotNull(waiting(again(new CodeWords().compareAndSwap(4, 2, 6, 7), 0)).waits());
    }

    @Test
    void takingTheNextPieceOfWorkIsNoWait() throws Exception {
        assertNull(waiting(again(atomic(new CodeWords().move(7, 1), 4), 0)).waits());
        assertNull(waiting(again(atomic(new CodeWords().move(7, 1).move(8, 0), 4), 0)).waits());
        assertNotNull(waiting(again(atomic(new CodeWords().move(7, 1 << 16), 4), 0)).waits(), "it may read the lower half");
        assertNotNull(waiting(again(atomic(new CodeWords().move(7, 0), 4), 0)).waits(), "it adds nothing, so that it only reads");
        assertNotNull(waiting(again(atomic(new CodeWords().move(7, 1).sum(7, 7, 7), 4), 0)).waits());
        assertNotNull(waiting(again(atomic(new CodeWords().move(7, 1), 4), 1)).waits(), "what it adds is not known at the start of each round");
        assertNotNull(waiting(again(atomic(new CodeWords().move(7, 1).under(0), 4), 0)).waits(), "it may be another number");
        assertNotNull(waiting(again(new CodeWords().move(7, 1).compareAndSwap(4, 2, 6, 7), 0)).waits());
    }

    @ParameterizedTest
    @CsvSource({"0, false", "1, true", "2, true", "3, true", "4, true", "5, true", "6, true", "7, true", "8, true"})
    void onlySumsTakeTheNextPieceOfWork(int operation, boolean waits) throws Exception {
        CodeWords code = new CodeWords().move(7, 1).add(0x00000007020479a8L, 0x002ea800081ee1c4L | (long) operation << 23);
        assertEquals(waits ? "a loop with ATOMG at offset 0x10" : null, waiting(again(code, 0)).waits());
    }

    /** R4 counts to 100: {@code IADD3 R4, R4, 1, RZ; ISETP.LT P0, PT, R4, 100, PT}. */
    private static CodeWords counted(CodeWords code) {
        return code.add(0x0000000104047810L, 0x000fe20007ffe0ffL).add(0x000000640400780cL, 0x000fda0003f01270L).branch(1).under(0).exit();
    }

    /** {@code LDG.E.STRONG.GPU R6, desc[UR4][R2.64]}. */
    private static CodeWords volatileLoad(CodeWords code) {
        return code.add(0x0000000402067981L, 0x000ea2000c1ee900L | 1L << SCOPE_AT);
    }

    @Test
    void aCountedLoopDoesNotWait() throws Exception {
        assertNull(waiting(counted(volatileLoad(new CodeWords().move(4, 0)))).waits());
        assertNotNull(waiting(again(load(new CodeWords().move(4, 0), OF_GPU), 1)).waits(), "nothing counts");
    }

    @Test
    void aCountedLoopWaitsIfAnotherBranchDependsOnALoad() throws Exception {
        String waits = "a loop with LDG at offset 0x10";
        assertEquals(waits, waiting(counted(volatileLoad(new CodeWords().move(4, 0)).compare(1, 6, 5).branch(7).under(1))).waits());
        assertEquals(waits, waiting(counted(volatileLoad(new CodeWords().move(4, 0)).compare(1, 6, 5).exit().under(1))).waits());
        assertEquals(waits, waiting(counted(volatileLoad(new CodeWords().move(4, 0)).sum(8, 7, 6).compare(1, 5, 8).branch(8).under(1))).waits());
        assertEquals(waits, waiting(counted(volatileLoad(new CodeWords().move(4, 0)).compare(1, 6, 5).move(8, 1).under(1).compare(2, 8, 7).branch(9)
                .under(2))).waits(), "a number is written under a predicate");
        assertNull(waiting(counted(volatileLoad(new CodeWords().move(4, 0)).move(6, 1).compare(1, 6, 5).branch(8).under(1))).waits(),
                "what is loaded is overwritten");
        assertNull(waiting(counted(volatileLoad(new CodeWords().move(4, 0)).compare(1, 7, 5).branch(7).under(1))).waits(), "another register");
    }

    /** The compared value was loaded in the round before. */
    @Test
    void aBranchMayDependOnTheRoundBefore() throws Exception {
        CodeWords code = new CodeWords().move(4, 0).compare(1, 6, 5).branch(7).under(1);
        assertEquals("a loop with LDG at offset 0x30", waiting(counted(volatileLoad(code))).waits());
    }

    /** {@code LDGSTS.E.BYPASS.128 [R5], desc[UR4][R2.64]; LDS R4, [UR4]}. */
    @Test
    void aLoopOfCopiesWaitsIfABranchDependsOnALoad() throws Exception {
        CodeWords copies = new CodeWords().add(0x02057faeL, 0x0043e2000b901c44L);
        CodeWords read = new CodeWords().add(0x02057faeL, 0x0043e2000b901c44L).add(0x4ff047984L, 0x000e240008000800L);
        assertNull(waiting(again(copies, 0)).waits());
        assertEquals("a loop with LDGSTS at offset 0x0", waiting(again(read, 0)).waits());
    }

    @Test
    void aLoopWaitsByAFunctionOfItsSection() throws Exception {
        CodeWords code = new CodeWords().call(4).compare(0, 4, 5).branch(0).under(0).exit();
        assertEquals("a loop with LDG at offset 0x40", waiting(load(code, OF_GPU).returnBy(20)).waits());
        CodeWords once = new CodeWords().call(4).compare(0, 4, 5).branch(1).under(0).exit();
        assertNull(waiting(load(once, OF_GPU).returnBy(20)).waits(), "it is called before the loop");
    }

    @Test
    void callersLearnWhatASectionLoadsAndCalls() throws Exception {
        assertEquals(new SectionWaits(null, true, false), waiting(load(new CodeWords(), WEAK).exit()));
        assertEquals(new SectionWaits(null, false, false), waiting(new CodeWords().callSymbol().exit()));
        assertEquals(new SectionWaits(null, false, true), waiting(again(new CodeWords().callSymbol(), 0)));
        assertEquals(new SectionWaits(null, false, false), waiting(new CodeWords().store(2, 4).exit()));
    }
}
