package io.tessera.guardian.machine.look;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.code.Architecture;
import java.util.BitSet;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.ValueSource;
import io.tessera.guardian.machine.CodeWords;
import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.code.SectionFlow;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests which loops are shown to end, and which must look. */
class SectionLoopsTest {
    private static final MachineFence NO_LOOKS = MachineFence.of(0x2000_0000_0000L, 1L << 37);
    private static final long ALWAYS = 7L << 12;
    private static final int NOT = 8;
    private static final String[] RELATIONS = {"F", "LT", "EQ", "LE", "GT", "NE", "GE", "T"};

    private static String endless(CodeWords code, int... entered) throws Exception {
        SectionFlow flow = code.flow(entered);
        return new SectionLoops(flow, _ -> false).endless(Looks.of(flow, NO_LOOKS));
    }

    /** {@code IADD3 R, R, step, RZ}. */
    private static CodeWords step(CodeWords code, int register, int step) {
        return code.add(0x810L | ALWAYS | (long) register << 16 | (long) register << 24 | (long) step << 32, 0x000fe20007ffe0ffL);
    }

    private static long relation(String name, boolean signed) {
        return 0x000fda0003f00070L | (long) List.of(RELATIONS).indexOf(name) << 12 | (signed ? 1L << 9 : 0);
    }

    /** {@code ISETP.relation P0, PT, R, bound, PT}. */
    private static CodeWords compare(CodeWords code, String relation, boolean signed, int register, int bound) {
        return code.add(0x80cL | ALWAYS | (long) register << 24 | (long) bound << 32, relation(relation, signed) & ~(7L << 17));
    }

    /** As above, with a register as the bound. */
    private static CodeWords compareRegisters(CodeWords code, String relation, boolean signed, int register, int bound) {
        return code.add(0x20cL | ALWAYS | (long) register << 24 | (long) bound << 32, relation(relation, signed) & ~(7L << 17));
    }

    /** A loop that goes on as long as R4 and an immediate are in a relation. */
    private static CodeWords counting(int step, String goesOn, boolean signed, int bound) {
        return compare(step(new CodeWords().move(4, 0), 4, step), goesOn, signed, 4, bound).branch(1).under(0).exit();
    }

    @Test
    void codeWithoutLoopsEnds() throws Exception {
        assertNull(endless(new CodeWords().branch(2).nothing().exit()));
        assertNull(endless(new CodeWords().exit().branch(1)), "nothing leads to the branch to itself behind the code");
    }

    @Test
    void aLoopWithoutACounterHasToLook() throws Exception {
        assertEquals("a loop that does not look at the stop word at offset 0x0", endless(new CodeWords().branch(0).exit()));
        assertNotNull(endless(new CodeWords().load(4, 2).compare(0, 4, 5).branch(0).under(0).exit()), "it waits for a word in memory");
    }

    /** Condition to continue, step and bound. The traps step over the bound, or have no number that ends them. */
    @ParameterizedTest
    @CsvSource({"1, LT, true, 100, true", "-1, GT, true, 0, true", "1, NE, true, 7, true", "4, NE, true, 8, false", "3, NE, true, 8, true",
            "-4, NE, true, 0, false",
            "4, LT, true, 100, true", "4, LT, true, 2147483647, false", "4, LT, true, 2147483644, true", "4, LT, true, 2147483645, false",
            "1, LT, true, 2147483647, true",
            "1, LE, true, 2147483647, false", "1, LE, true, 2147483646, true", "2, LE, true, 2147483646, false", "-1, GE, true, -2147483648, false",
            "-1, GE, false, 0, false",
            "-1, GE, false, 1, true", "-1, GT, false, 0, true", "1, LT, false, -1, true", "2, LT, false, -1, false", "2, LT, false, -2, true",
            "0, LT, true, 5, false",
            "1, T, true, 5, false", "1, EQ, true, 5, true", "-2147483648, LT, true, 0, true", "-2147483648, LT, true, 1, false",
            "8, GT, true, -2147483641, true",
            "8, GT, true, -2147483642, false"})
    void aCounterComesToItsBoundOrNot(int step, String goesOn, boolean signed, int bound, boolean ends) throws Exception {
        assertEquals(ends, endless(counting(step, goesOn, signed, bound)) == null);
        CodeWords turned = compare(step(new CodeWords().move(4, 0), 4, step), goesOn, signed, 4, bound).branch(5).under(NOT).branch(1).exit();
        assertEquals(ends, endless(turned) == null, "the branch that leaves has the condition the other way round");
    }

    @Test
    void aBoundInARegisterIsReachedByStepsOfOne() throws Exception {
        assertNull(endless(compareRegisters(step(new CodeWords(), 4, 1), "LT", true, 4, 6).branch(0).under(0).exit()));
        assertNotNull(endless(compareRegisters(step(new CodeWords(), 4, 1), "LE", true, 4, 6).branch(0).under(0).exit()),
                "the bound may be the greatest number");
        assertNotNull(endless(compareRegisters(step(new CodeWords(), 4, 2), "LT", true, 4, 6).branch(0).under(0).exit()), "it may be stepped over");
        assertNull(endless(compareRegisters(step(new CodeWords(), 4, 1), "GT", true, 6, 4).branch(0).under(0).exit()), "the counter comes second");
        assertNotNull(endless(compareRegisters(step(new CodeWords(), 4, 1), "GE", true, 6, 4).branch(0).under(0).exit()));
        assertNotNull(endless(step(compareRegisters(step(new CodeWords(), 4, 1), "LT", true, 4, 6), 6, 1).branch(0).under(0).exit()),
                "the bound moves");
    }

    /** {@code FLO.U32 R8, P, R4} and {@code FMNMX.IS_A R8, P, R4, R5, PT}, which writes its predicate elsewhere, come between the comparison and the branch. */
    @ParameterizedTest
    @CsvSource({"0x0000000400087300, 0x000e2200000e0000, 0x000e220000020000", "0x0000000504087209, 0x000fe200038000fe, 0x000fe200038000e6"})
    void whatElseWritesThePredicateOfTheBranchMayKeepTheLoop(String low, String none, String second) throws Exception {
        CodeWords counting = step(new CodeWords(), 4, 1).add(0x80cL | ALWAYS | 4L << 24 | 9L << 32, relation("LT", true) & ~(7L << 17) | 1L << 17);
        assertNull(endless(counting.add(Long.decode(low), Long.decode(none)).branch(0).under(1).exit()));
        CodeWords written = step(new CodeWords(), 4, 1).add(0x80cL | ALWAYS | 4L << 24 | 9L << 32, relation("LT", true) & ~(7L << 17) | 1L << 17);
        assertNotNull(endless(written.add(Long.decode(low), Long.decode(second)).branch(0).under(1).exit()));
    }

    @Test
    void aCounterHasOneWriterThatEveryRoundPasses() throws Exception {
        assertNotNull(endless(compare(step(step(new CodeWords(), 4, 1), 4, 1), "LT", true, 4, 9).branch(0).under(0).exit()), "two steps of one");
        assertNotNull(endless(compare(step(new CodeWords(), 4, 1).load(4, 2), "LT", true, 4, 9).branch(0).under(0).exit()));
        assertNotNull(endless(compare(step(new CodeWords(), 4, 1).under(1), "LT", true, 4, 9).branch(0).under(0).exit()));
        assertNotNull(endless(compare(step(new CodeWords().branch(2).under(1), 4, 1), "LT", true, 4, 9).branch(0).under(0).exit()),
                "a way past the step");
        assertNotNull(endless(compare(step(new CodeWords(), 4, 1).branch(0).under(1), "LT", true, 4, 9).branch(0).under(0).exit()),
                "a way past the comparison");
        assertNotNull(endless(compare(step(new CodeWords().call(5), 4, 1), "LT", true, 4, 9).branch(0).under(0).exit().returnBy(20)),
                "a function may write it");
    }

    @Test
    void theBranchIsByTheComparison() throws Exception {
        assertNotNull(endless(compare(step(new CodeWords(), 4, 1), "LT", true, 4, 9).compare(0, 8, 9).branch(0).under(0).exit()),
                "another one wrote it last");
        assertNotNull(endless(compare(step(new CodeWords(), 4, 1), "LT", true, 4, 9).branch(0).under(1).exit()), "another predicate");
        assertNotNull(endless(compare(step(new CodeWords(), 4, 1), "LT", true, 4, 9).under(2).branch(0).under(0).exit()), "it is under a predicate");
        assertNull(endless(compare(step(new CodeWords(), 4, 1), "LT", true, 4, 9).product(8, 8, 9, 10).branch(0).under(0).exit()));
    }

    @Test
    void aLoopAroundACountedOneHasToLook() throws Exception {
        CodeWords nested = compare(step(new CodeWords().move(4, 0), 4, 1), "LT", true, 4, 9).branch(1).under(0);
        assertNotNull(endless(compare(step(nested, 5, 1), "LT", true, 5, 9).branch(0).under(0).exit()));
    }

    @Test
    void aBarrierThatServesTwoPlacesMakesNoLoop() throws Exception {
        CodeWords code = new CodeWords().meeting(0, 3).nothing().meet(0).nothing().meeting(0, 7).nothing().meet(0).exit();
        assertNull(endless(code));
        assertNotNull(endless(new CodeWords().nothing().meeting(0, 0).meet(0).exit()), "a meeting before its barrier");
    }

    @Test
    void loopsOfCallsAndTablesAreLoops() throws Exception {
        assertNotNull(endless(new CodeWords().call(2).exit().nothing().call(2).returnBy(20)), "a function that calls itself");
        assertNotNull(endless(new CodeWords().nothing().branchByTable(4).exit(), 0), "a table that leads back");
    }

    @Test
    void placesAreFoundUntilNoLoopIsLeft() throws Exception {
        CodeWords nested = new CodeWords().nothing().nothing().branch(1).under(0).branch(0).under(1).exit();
        SectionFlow flow = nested.flow();
        List<Integer> asked = new ArrayList<>();
        assertEquals(0, new SectionLoops(flow, _ -> false).place((first, _, _) -> asked.add(first)));
        assertEquals(List.of(0, 1), asked, "the loop around, then the one inside");
        assertEquals(2, new SectionLoops(flow, _ -> false).place((_, _, _) -> false));
    }

    private static final long[] REDUCTION = {0x000000040200798eL, 0x000fe2000c10e590L};
    private static final long SLEEP = 0x000000000000795dL;
    private static final long SLEEP_HIGH = 0x000fea0003800000L;

    private static List<Integer> steps(CodeWords code) throws Exception {
        List<Integer> steps = new ArrayList<>();
        new SectionLoops(code.flow(), _ -> false).place((_, _, step) -> steps.add(step));
        return steps;
    }

    /** As ptxas calls {@code vprintf} in a loop that it has unrolled. */
    @Test
    void aLongRoundLooksSeveralTimes() throws Exception {
        CodeWords prints = new CodeWords();
        for (int i = 0; i < 8; i++) {
            prints.load(4, 2).add(0x000000000c007343L, 0x009fea0003c00000L);
        }
        List<Integer> steps = steps(prints.branch(0).exit());
        assertEquals(Collections.nCopies(5, 1 << 31), steps, "once in two calls");
        assertEquals(1, steps(new CodeWords().load(4, 2).branch(0).exit()).size());
    }

    private static CodeWords loads(int count) {
        CodeWords code = new CodeWords();
        for (int i = 0; i < count; i++) {
            code.load(4, 2);
        }
        return code;
    }

    /** A look counts rounds by how long they may take. */
    @Test
    void theLongerARoundMayTakeTheMoreItAdds() throws Exception {
        assertEquals(List.of(LookWords.STEP), steps(loads(4).branch(0).exit()));
        assertEquals(List.of(2 * LookWords.STEP), steps(loads(8).branch(0).exit()));
        assertEquals(List.of(16 * LookWords.STEP + (1 << 21)), steps(loads(64).add(REDUCTION[0], REDUCTION[1]).branch(0).exit()));
        assertEquals(List.of(1 << 31), steps(loads(5000).branch(0).exit()));
        assertEquals(List.of(LookWords.STEP), steps(new CodeWords().add(SLEEP | 20L << 32, SLEEP_HIGH).branch(0).exit()));
        assertEquals(List.of(43_000_000), steps(new CodeWords().add(SLEEP | 1_000_000L << 32, SLEEP_HIGH).branch(0).exit()));
        assertEquals(List.of(43_000_000), steps(new CodeWords().add(SLEEP | 0xffff_ffffL << 32, SLEEP_HIGH).branch(0).exit()), "no longer than 1 ms");
        assertEquals(List.of(43_000_000), steps(new CodeWords().add(0x000000060000735dL, SLEEP_HIGH).branch(0).exit()), "by a register");
        assertEquals(List.of(1 << 31), steps(new CodeWords().add(SLEEP | 0xffff_ffffL << 32, SLEEP_HIGH | 1L << 20).branch(0).exit()),
                "at an mbarrier");
    }

    /** A loop that is shown to end looks if it sleeps, has an atomic, or has enough accesses that the look is little of a round. */
    @Test
    void aCountedLoopWithSlowRoundsLooks() throws Exception {
        String[] slow = {"loads", "reduction", "sleep"};
        for (String what : slow) {
            CodeWords code = switch (what) {
                case "loads" -> loads(16);
                case "reduction" -> new CodeWords().add(REDUCTION[0], REDUCTION[1]);
                default -> new CodeWords().add(SLEEP | 1_000_000L << 32, SLEEP_HIGH);
            };
            CodeWords loop = compare(step(code, 20, 1), "LT", true, 20, 9).branch(0).under(0).exit();
            assertNull(endless(loop));
            assertEquals(1, steps(loop).size(), what);
        }
        assertEquals(List.of(), steps(compare(step(loads(15), 20, 1), "LT", true, 20, 9).branch(0).under(0).exit()));
    }

    /** Code that a compiler did not make: each block may lead to each other, and meets elsewhere. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Timeout(120)
    void loopsAreNotFollowedForEver(boolean meets) {
        int blocks = 20_000;
        long[] words = new long[4 * blocks + 2];
        for (int i = 0; i < blocks; i++) {
            long there = (i * 104_729L % blocks * 2 - 2 * i - 1) * 16;
            words[4 * i] = meets ? 0x7945L | (long) (i % 16) << 16 | there << 32 : 0x7918L;
            words[4 * i + 1] = meets ? 0x000fe20003800000L | there >>> 32 & 0x3ffff : 0x000fc00000000000L;
            long distance = (i * 7_919L % blocks * 2 - 2 * i - 2) * 16;
            words[4 * i + 2] = Architecture.SM_90.withDistanceLow(0x0947, distance);
            words[4 * i + 3] = Architecture.SM_90.withDistanceHigh(0x000fea0003800000L, distance);
        }
        words[4 * blocks] = CodeWords.EXIT;
        words[4 * blocks + 1] = 0x000fea0003800000L;
        assertEquals("loops that take too long to find", assertThrows(MachineCodeException.class, () -> {
            SectionFlow flow = SectionFlow.of(Architecture.SM_90, words, new BitSet());
            new SectionLoops(flow, _ -> false).place((_, _, _) -> false);
        }).getMessage());
    }
}
