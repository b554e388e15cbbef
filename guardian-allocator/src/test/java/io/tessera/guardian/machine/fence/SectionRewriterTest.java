package io.tessera.guardian.machine.fence;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.machine.CodeWords;
import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.MachineFences;
import io.tessera.guardian.machine.code.Architecture;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.SectionFlow;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Fences stand before accesses, and everything that names a place in code names it still. */
class SectionRewriterTest {
    private static final FencePlan BASE_IN_GENERAL = new FencePlan(InstructionWord.ZERO_UNIFORM, BoundPairs.NONE, 40);
    private static final FencePlan BASE_IN_UNIFORM = new FencePlan(58, BoundPairs.NONE, InstructionWord.ZERO_REGISTER);
    private static final int AND_OR = 0xea;
    private static final int OR = 0xfc;
    private static final int AND = 0xc0;

    private static RewrittenSection rewrite(CodeWords code, MachineFence fence, FencePlan plan, int... entered) throws MachineCodeException {
        return new SectionRewriter(code.flow(entered), fence, plan, Map.of()).rewrite();
    }

    private static RewrittenSection masked(CodeWords code, int... entered) throws MachineCodeException {
        return rewrite(code, MachineFences.MASK, BASE_IN_GENERAL, entered);
    }

    private static SectionFlow flow(RewrittenSection section) throws MachineCodeException {
        return SectionFlow.of(Architecture.SM_90, section.code(), new BitSet());
    }

    private static void assertFence(RewrittenSection section, int at, int register, int third, int table, int immediate) {
        long low = section.code()[2 * at];
        long high = section.code()[2 * at + 1];
        assertEquals(-1, section.origins()[at]);
        assertEquals(0x812, InstructionWord.key(low, high));
        assertEquals(register, InstructionWord.destination(low));
        assertEquals(register, InstructionWord.source(low));
        assertEquals(immediate, InstructionWord.immediate(low));
        assertEquals(0x078e0000L | third | (long) table << 8, high & (1L << 41) - 1);
    }

    @Test
    void theHighWordOfAnAddressIsMaskedWithTheBaseRegister() throws MachineCodeException {
        RewrittenSection section = masked(new CodeWords().load(0, 2).sum(5, 6, 7).stalling(6).store(4, 0).exit());
        assertEquals(InstructionWord.key(section.code()[0], section.code()[1]), 0x802);
        assertEquals(40, InstructionWord.destination(section.code()[0]));
        assertEquals(MachineFences.MASK.baseHigh(), InstructionWord.immediate(section.code()[0]));
        assertFence(section, 1, 3, 40, AND_OR, MachineFences.MASK.mask());
        assertFence(section, 4, 5, 40, AND_OR, MachineFences.MASK.mask());
        assertEquals(3, section.inserted());
        assertEquals(2, section.accesses());
        assertArrayEquals(new int[] {1, 3, 4, 6, 7}, section.places());
    }

    @Test
    void withoutABaseRegisterTheBaseIsAddedBeforeTheMask() throws MachineCodeException {
        RewrittenSection section = rewrite(new CodeWords().load(0, 2).exit(), MachineFences.MASK, FencePlan.WITHOUT_REGISTERS);
        int base = MachineFences.MASK.baseHigh();
        assertFence(section, 0, 3, InstructionWord.ZERO_REGISTER, OR, base);
        assertFence(section, 1, 3, InstructionWord.ZERO_REGISTER, AND, base | MachineFences.MASK.mask());
        assertEquals(0, section.origins()[2]);
    }

    @Test
    void anAccessOfALowWordWindowTakesItsBaseFromAUniformRegister() throws MachineCodeException {
        CodeWords code = new CodeWords().load(0, 2).exit();
        RewrittenSection section = rewrite(code, MachineFences.LOW_WORD, BASE_IN_UNIFORM);
        CodeWords expected = new CodeWords().loadByBase(0, 2, 58);
        assertEquals(3, section.places()[0]);
        assertEquals(expected.words()[0], section.code()[6]);
        assertEquals(expected.words()[1], section.code()[7]);
    }

    @Test
    void anAccessWithoutAUniformOperandGetsTheBaseInItsAddressRegister() throws MachineCodeException {
        RewrittenSection section = rewrite(new CodeWords().compareAndSwap(0, 4, 6, 7).exit(), MachineFences.LOW_WORD, BASE_IN_UNIFORM);
        long move = section.code()[6];
        assertEquals(0x802, InstructionWord.key(move, section.code()[7]));
        assertEquals(5, InstructionWord.destination(move));
        assertEquals(MachineFences.LOW_WORD.baseHigh(), InstructionWord.immediate(move));
    }

    private static CodeWords storeAndProducts(int cycles, int uniform, int marks) {
        CodeWords code = new CodeWords().storeByDescriptor(2, 8, 4).stalling(cycles).product(20, 3, 22, 23).stalling(2).reusing(marks)
                .product(24, 25, 26, 27)
                .stalling(2)
                .moveUniform(uniform, 0);
        for (int i = 0; i < 48; i++) {
            code.nothing();
        }
        return code.exit();
    }

    /**
     * An instruction that waits until a store has read its address comes directly behind the store, if what was between has passed it: it
     * still waits.
     */
    @Test
    void whoWaitsForAStoreThatOthersHavePassedIsTwoCyclesBehindIt() throws MachineCodeException {
        CodeWords code = new CodeWords().store(2, 8).reading(0).stalling(1).product(20, 3, 22, 23).stalling(2).product(24, 25, 26, 27).stalling(2)
                .sum(2, 4, 6).waiting(1).exit();
        RewrittenSection section = masked(code);
        assertTrue(section.place(2) < section.place(0), "products have passed the store");
        assertEquals(section.place(0) + 1, section.place(3));
        assertEquals(InstructionWord.SCOREBOARD_CYCLES, InstructionWord.stall(section.code()[2 * section.places()[0] + 1]));
    }

    /** Products behind a store come between its fence and itself, but no earlier than before, and none that hands its address on. */
    @Test
    void arithmeticPassesAnAccessThatItHasNothingToDoWith() throws MachineCodeException {
        RewrittenSection passed = masked(storeAndProducts(1, 6, 0));
        assertTrue(passed.place(1) < passed.place(0) && passed.place(2) < passed.place(0));
        assertEquals(2, InstructionWord.stall(passed.code()[2 * passed.places()[0] + 1]));
        RewrittenSection later = masked(storeAndProducts(4, 6, 0));
        assertTrue(later.place(1) > later.place(0), "the store takes more cycles than its fence leaves");
        RewrittenSection descriptor = masked(storeAndProducts(1, 4, 0));
        assertTrue(descriptor.place(1) > descriptor.place(0), "the descriptor of the store is written soon");
        RewrittenSection handed = masked(storeAndProducts(1, 6, 1));
        assertTrue(handed.place(1) > handed.place(0));
    }

    @Test
    void aPredicatedAccessGetsAFenceUnderItsPredicate() throws MachineCodeException {
        for (int predicate : new int[] {0, 6, 10}) {
            RewrittenSection section = masked(new CodeWords().load(0, 2).under(predicate).exit());
            assertEquals(predicate, InstructionWord.predicate(section.code()[2]));
            RewrittenSection swap = rewrite(new CodeWords().compareAndSwap(0, 4, 6, 7).under(predicate).exit(), MachineFences.LOW_WORD,
                    FencePlan.WITHOUT_REGISTERS);
            assertEquals(predicate, InstructionWord.predicate(swap.code()[0]));
        }
    }

    @Test
    void aFenceWaitsForWhatItsAccessWaitsFor() throws MachineCodeException {
        RewrittenSection section = masked(new CodeWords().load(0, 2).waiting(0x2a).exit());
        assertEquals(0x2a, InstructionWord.waits(section.code()[3]));
        assertEquals(7, InstructionWord.writeScoreboard(section.code()[3]));
        assertEquals(5, section.code()[3] >>> 41 & 0xf, "cycles until the access");
        RewrittenSection two = rewrite(new CodeWords().load(0, 2).waiting(0x2a).exit(), MachineFences.MASK, FencePlan.WITHOUT_REGISTERS);
        assertEquals(0x2a, InstructionWord.waits(two.code()[1]));
    }

    /** {@code HMMA.16816.F32 R2, R4, R8, R2}, whose result may come for 64 cycles: compilers know better when R3 may be written again. */
    @Test
    void aFenceComesWhenAResultOfAFixedLatencyIsThere() throws MachineCodeException {
        CodeWords code = new CodeWords().add(0x000000080402723cL, 0x000fe20000001802L).sum(3, 6, 7).load(8, 2).exit();
        RewrittenSection section = masked(code);
        SectionFlow flow = flow(section);
        int fence = section.places()[2];
        int cycles = 0;
        while (!"LOP3".equals(flow.operation(fence).name())) {
            fence++;
        }
        for (int i = section.places()[0]; i < fence; i++) {
            cycles += InstructionWord.cycles(flow.high(i));
        }
        assertTrue(cycles >= 60, cycles + " cycles");
        assertEquals(section.places()[2] + 6, section.places()[3], "four delays, the fence and the access");
    }

    @Test
    void anInstructionBeforeAFenceHandsNoOperandOn() throws MachineCodeException {
        RewrittenSection section = masked(new CodeWords().sum(6, 7, 8).reusing(3).load(0, 2).sum(6, 7, 8).reusing(3).exit());
        assertFalse(InstructionWord.reuses(section.code()[2 * section.places()[0] + 1]));
        assertTrue(InstructionWord.reuses(section.code()[2 * section.places()[2] + 1]), "nothing is inserted behind it");
    }

    @Test
    void anAddressIsFencedOncePerDefinition() throws MachineCodeException {
        RewrittenSection section = masked(new CodeWords().load(12, 2).load(16, 2).sum(3, 3, 5).stalling(6).store(2, 12).exit());
        assertEquals(3, section.inserted(), "the base, the first load, the store behind the sum");
        assertEquals(section.places()[0] + 2, section.places()[1]);
    }

    @Test
    void branchesGoToTheSameInstructionsOrTheirFences() throws MachineCodeException {
        CodeWords code = new CodeWords().compare(0, 4, 5).branch(4).under(0).load(0, 2).store(2, 0).load(6, 8).branch(0).under(1).exit();
        RewrittenSection section = masked(code);
        SectionFlow before = code.flow();
        SectionFlow after = flow(section);
        for (int i = 0; i < before.count(); i++) {
            if (before.target(i) != SectionFlow.NONE) {
                int place = section.places()[before.target(i)];
                assertEquals(place, after.target(section.places()[i]), "branch " + i);
            }
        }
        assertEquals(-1, section.origins()[section.places()[4]], "a branch to an access goes to its fence");
    }

    @Test
    void meetingPointsMove() throws MachineCodeException {
        CodeWords code = new CodeWords().meeting(0, 4).load(0, 2).load(4, 6).meet(0).exit();
        RewrittenSection section = masked(code);
        assertEquals(section.places()[4], flow(section).target(section.places()[0]));
        assertEquals((section.places()[4] - section.places()[0] - 1) * 16, InstructionWord.immediate(section.code()[2 * section.places()[0]]));
    }

    @Test
    void returnsAndTablesStillCountFromTheStart() throws MachineCodeException {
        CodeWords code = new CodeWords().load(0, 2).branchByTable(4).load(6, 8).returnBy(20);
        RewrittenSection section = masked(code, 2);
        for (int i : new int[] {1, 3}) {
            int place = section.places()[i];
            assertEquals(-16L * (place + 1), Architecture.SM_90.distance(section.code()[2 * place], section.code()[2 * place + 1]));
        }
    }

    @Test
    void returnAddressesMoveWithTheirCalls() throws MachineCodeException {
        CodeWords code = new CodeWords().load(0, 2).move(20, 0x40).load(4, 6).call(6).load(8, 10).exit().load(12, 14).returnBy(20);
        RewrittenSection section = masked(code);
        byte[] bytes = MovedCode.bytes(section, ReturnAddresses.find(code.flow()));
        long[] words = new long[bytes.length / 8];
        java.nio.ByteBuffer.wrap(bytes).order(java.nio.ByteOrder.LITTLE_ENDIAN).asLongBuffer().get(words);
        long constant = words[2 * section.place(1)];
        int call = section.places()[3];
        assertEquals(16 * section.places()[4], InstructionWord.immediate(constant));
        assertEquals(16 * (call + 1), InstructionWord.immediate(constant), "a call returns to the fence of the access behind it");
    }

    @Test
    void aCallWithoutAReturnAddressIsRefused() throws MachineCodeException {
        assertEquals(1, ReturnAddresses.find(new CodeWords().move(20, 0x20).call(3).exit().returnBy(20).flow()).size());
        CodeWords missing = new CodeWords().move(20, 0x30).call(3).exit().returnBy(20);
        MachineCodeException refused = assertThrows(MachineCodeException.class, () -> ReturnAddresses.find(missing.flow()));
        assertEquals("a call whose return address is not found at offset 0x10", refused.getMessage());
    }

    @Test
    void theBaseIsLoadedAgainBehindACallOfAnotherFunction() throws MachineCodeException {
        RewrittenSection section = rewrite(new CodeWords().callSymbol().load(0, 2).exit(), MachineFences.LOW_WORD, BASE_IN_UNIFORM);
        int call = section.places()[0];
        assertArrayEquals(Arrays.copyOf(section.code(), 6), Arrays.copyOfRange(section.code(), 2 * call + 2, 2 * call + 8));
        assertEquals(call + 4, section.places()[1]);
    }

    /** {@code LD}, {@code LDG}, {@code ST}, {@code STG}, {@code ATOM} (two), {@code REDG} (two), {@code ATOMG} and {@code LDGSTS} by {@code desc[UR4]}, and how they are without. */
    @ParameterizedTest
    @CsvSource({"0000000402007980, 0c101900, 0000003f02007980, 0c100900", "0000000402007981, 0c1e1b00, 0000003f02007981, 0c1e0b00",
            "0000000b02007985, 0c101904, 0000000b02007985, 0c10093f", "0000000b02007986, 0c101904, 0000000b02007986, 0c10093f",
            "0000000902ff798a, 081ee1c4, 0000000902ff798a, 081ee17f", "00000009020079a2, 0810f3c4, 00000009020079a2, 0810f37f",
            "0000000f0200798e, 0c10e184, 0000000f0200798e, 0c10e13f", "00000016020079a6, 0c10f384, 00000016020079a6, 0c10f33f",
            "0000000f020379a8, 081ee1c4, 0000000f020379a8, 081ee17f", "0000000002057fae, 0b901d44, 0000000002057fae, 0b900d7f"})
    void aDescriptorThatIsNotSeenToBeTheDriversIsTakenAway(String low, String high, String plainLow, String plainHigh) throws MachineCodeException {
        long control = 0x000fe20000000000L;
        long lowWord = Long.parseLong(low, 16);
        long highWord = control | Long.parseLong(high, 16);
        RewrittenSection kept = masked(new CodeWords().loadDescriptor(4).add(lowWord, highWord).exit());
        assertArrayEquals(new long[] {lowWord, highWord}, Arrays.copyOfRange(kept.code(), 2 * kept.place(1), 2 * kept.place(1) + 2));
        for (CodeWords code : java.util.List.of(new CodeWords().nothing(), new CodeWords().toUniform(5, 8),
                new CodeWords().loadConstant(4, 0x210, 5))) {
            CodeWords all = code.add(lowWord, highWord).exit();
            RewrittenSection section = masked(all);
            int at = 2 * section.place(1);
            assertEquals(plainLow, String.format("%016x", section.code()[at]));
            assertEquals(Long.parseLong(plainHigh, 16), section.code()[at + 1] ^ control);
            assertEquals(kept.inserted(), section.inserted(), "no instruction more");
            RewrittenSection unfenced = rewrite(all, MachineFences.NONE, FencePlan.WITHOUT_REGISTERS);
            assertArrayEquals(all.words(), Arrays.copyOf(unfenced.code(), all.words().length));
        }
    }

    @Test
    void accessesThatCannotBeFencedAreRefusedByOffset() throws MachineCodeException {
        masked(new CodeWords().load(0, 2).exit());
        assertEquals("a LDG with an absolute address at offset 0x10", refusal(new CodeWords().nothing().load(0, 255).exit()));
        assertEquals("a LDG with an absolute address at offset 0x0", refusal(new CodeWords().load(0, 3).exit()));
        CodeWords added = new CodeWords().loadBySum(0, 2, 4).exit();
        assertEquals("a LDG that adds a uniform register to its address at offset 0x0", refusal(added));
        RewrittenSection copied = rewrite(added, MachineFences.LOW_WORD, BASE_IN_UNIFORM);
        assertEquals(0x1c82, InstructionWord.key(copied.code()[6], copied.code()[7]), "UMOV of the low half");
        assertEquals(60, InstructionWord.immediate(copied.code()[8]) & 0x3f);
    }

    /** A section whose uniform registers are all used except this many pairs, of which the first are 60 and 61. */
    private static RewrittenSection bounded(CodeWords code, int pairs) throws MachineCodeException {
        long free = -1L << 62 - 2 * pairs & -1L >>> 2;
        FencePlan plan = new FencePlan(InstructionWord.ZERO_UNIFORM, BoundPairs.of(code.flow(), ~free), InstructionWord.ZERO_REGISTER);
        return rewrite(code, MachineFences.MASK, plan);
    }

    @Test
    void aSumIsKeptBetweenBoundsUnderThePredicateOfItsAccess() throws MachineCodeException {
        int base = MachineFences.MASK.baseHigh();
        int mask = MachineFences.MASK.mask();
        CodeWords code = new CodeWords().nothing().reusing(1).loadBySum(0, 2, 20).under(9).waiting(0x2a).exit();
        RewrittenSection section = bounded(code, 1);
        CodeWords expected = new CodeWords().nothing().differenceUniform(60, base - 1, 21).stalling(2).waiting(0x2a)
                .differenceUniform(61, base + mask, 21).stalling(6).greatest(3, 3, 60).under(9).stalling(5).least(3, 3, 61).under(9).stalling(5)
                .loadBySum(0, 2, 20).under(9).waiting(0x2a).exit();
        assertArrayEquals(withoutYield(expected.words()), withoutYield(Arrays.copyOf(section.code(), expected.words().length)));
        assertEquals(4, section.inserted());
    }

    @Test
    void anAddressInUniformRegistersIsCopiedAndForced() throws MachineCodeException {
        int base = MachineFences.MASK.baseHigh();
        RewrittenSection section = bounded(new CodeWords().loadByBase(0, 255, 20).exit(), 1);
        assertEquals(0x1c82, InstructionWord.key(section.code()[0], section.code()[1]), "UMOV of the low half");
        CodeWords expected = new CodeWords().logicUniform(61, 21, base, OR).stalling(6)
                .logicUniform(61, 61, base | MachineFences.MASK.mask(), AND).stalling(6).loadByBase(0, 255, 60).exit();
        assertArrayEquals(withoutYield(expected.words()), withoutYield(Arrays.copyOfRange(section.code(), 2, 10)));
    }

    /** Removes the bit that lets another warp go first, and unused scoreboards. */
    private static long[] withoutYield(long[] words) {
        return java.util.stream.IntStream.range(0, words.length)
                .mapToLong(i -> i % 2 == 0 ? words[i] : words[i] & ~(1L << 45) & ~(0x3fL << 46)).toArray();
    }

    @Test
    void aUniformRegisterThatWasJustWrittenIsWaitedFor() throws MachineCodeException {
        CodeWords late = new CodeWords().moveUniform(21, 7).loadBySum(0, 2, 20).exit();
        assertEquals(5, bounded(late, 1).inserted());
        CodeWords early = new CodeWords().moveUniform(22, 7).loadBySum(0, 2, 20).exit();
        assertEquals(4, bounded(early, 1).inserted());
    }

    @Test
    void aRegisterThatWasKeptBetweenBoundsIsFencedAgain() throws MachineCodeException {
        CodeWords code = new CodeWords().load(8, 2).loadBySum(9, 2, 20).load(10, 2).load(11, 2).exit();
        assertEquals(2 + 4 + 2, bounded(code, 1).inserted());
    }

    @Test
    void sumsThatAreNotFenced() throws MachineCodeException {
        bounded(new CodeWords().loadBySum(0, 2, 20).exit(), 1);
        for (CodeWords code : java.util.List.of(new CodeWords().loadBySum(0, 255, 20), new CodeWords().loadByBase(0, 2, 20),
                new CodeWords().loadBySum(0, 2, 21), new CodeWords().loadByBase(0, 255, 63))) {
            assertEquals("a LDG that adds a uniform register to its address at offset 0x0",
                    assertThrows(MachineCodeException.class, () -> bounded(code.exit(), 1)).getMessage());
        }
    }

    private static String refusal(CodeWords code) {
        return assertThrows(MachineCodeException.class, () -> masked(code)).getMessage();
    }

    @Test
    void withoutAFenceCodeStaysWhatItWas() throws MachineCodeException {
        CodeWords code = new CodeWords().meeting(0, 4).load(0, 2).branch(0).under(0).meet(0).nothing().nothing().nothing().exit();
        assertArrayEquals(code.words(), rewrite(code, MachineFences.NONE, FencePlan.WITHOUT_REGISTERS).code());
    }
}
