package io.tessera.guardian.machine.verify;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.machine.CodeWords;
import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.MachineFences;
import io.tessera.guardian.machine.code.InstructionWord;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Attacks on the fences of {@code [R.64+UR.64]} and {@code [UR.64]}. Each refusal has an accepted twin. */
class SummedAddressesTest {
    private static final MachineFence FENCE = MachineFences.MASK;
    private static final int HIGH = FENCE.baseHigh();
    private static final int LOWEST = HIGH - 1;
    private static final int HIGHEST = HIGH + FENCE.mask();
    /** Uniform registers: what is added (20 and 21), and two for bounds (60 and 61). */
    private static final int ADDED = 20;
    private static final int BOUNDS = 60;
    private static final int OR = 0xfc;
    private static final int AND = 0xc0;
    private static final String WHY = "by a uniform register that is not the window's base";

    private static String verify(CodeWords code, int... entered) throws MachineCodeException {
        return new SectionVerifier(code.flow(entered), FENCE, Set.of()).verify();
    }

    private static void accepts(CodeWords code, int... entered) {
        assertDoesNotThrow(() -> verify(code, entered));
    }

    private static void refuses(CodeWords code, int... entered) {
        String why = assertThrows(MachineCodeException.class, () -> verify(code, entered)).getMessage();
        assertTrue(why.contains(WHY), why);
    }

    private static CodeWords bounds(CodeWords code) {
        return code.differenceUniform(BOUNDS, LOWEST, ADDED + 1).differenceUniform(BOUNDS + 1, HIGHEST, ADDED + 1);
    }

    private static CodeWords fence(CodeWords code) {
        return bounds(code).greatest(3, 3, BOUNDS).least(3, 3, BOUNDS + 1);
    }

    private static CodeWords copy(CodeWords code) {
        return code.logicUniform(BOUNDS + 1, ADDED + 1, HIGH, OR).logicUniform(BOUNDS + 1, BOUNDS + 1, HIGH | FENCE.mask(), AND);
    }

    /** Refused where a part of the fence is replaced; the whole is accepted. */
    private static void refuses(UnaryOperator<CodeWords> fence) {
        accepts(fence(new CodeWords()).loadBySum(0, 2, ADDED).exit());
        refuses(fence.apply(new CodeWords()).loadBySum(0, 2, ADDED).exit());
    }

    @Test
    void aSumIsTrustedByNameSinceThreadsShareUniformRegisters() throws MachineCodeException {
        assertEquals("a LDG by a uniform register, which other threads of the warp may change at offset 0x40",
                verify(fence(new CodeWords()).loadBySum(0, 2, ADDED).exit()));
        assertEquals("a LDG by a uniform register, which other threads of the warp may change at offset 0x20",
                verify(copy(new CodeWords()).loadByBase(0, 255, BOUNDS).exit()));
    }

    @Test
    void withoutAFenceOrWithTheFenceOfAPlainAccess() {
        refuses(code -> code);
        refuses(code -> code.move(40, HIGH).logic(3, 3, FENCE.mask(), 40, 0xea));
    }

    @Test
    void boundsOfAnotherWindow() {
        refuses(code -> code.differenceUniform(BOUNDS, LOWEST - 1, ADDED + 1).differenceUniform(BOUNDS + 1, HIGHEST, ADDED + 1).greatest(3, 3, BOUNDS)
                .least(3, 3, BOUNDS + 1));
        refuses(code -> code.differenceUniform(BOUNDS, LOWEST, ADDED + 1).differenceUniform(BOUNDS + 1, HIGHEST + 1, ADDED + 1)
                .greatest(3, 3, BOUNDS).least(3, 3, BOUNDS + 1));
    }

    @Test
    void boundsOfAnotherUniformRegister() {
        refuses(code -> code.differenceUniform(BOUNDS, LOWEST, ADDED).differenceUniform(BOUNDS + 1, HIGHEST, ADDED + 1).greatest(3, 3, BOUNDS)
                .least(3, 3, BOUNDS + 1));
        refuses(code -> code.differenceUniform(BOUNDS, LOWEST, ADDED + 1).differenceUniform(BOUNDS + 1, HIGHEST, ADDED + 3).greatest(3, 3, BOUNDS)
                .least(3, 3, BOUNDS + 1));
        refuses(fence(new CodeWords()).loadBySum(0, 2, ADDED + 2).exit());
    }

    /** The lower bound replaces the low word of what is added, or the upper one its high word. */
    @Test
    void boundsThatReplaceWhatIsAdded() {
        refuses(code -> code.differenceUniform(ADDED, LOWEST, ADDED + 1).differenceUniform(ADDED + 1, HIGHEST, ADDED + 1).greatest(3, 3, ADDED)
                .least(3, 3, ADDED + 1));
        refuses(code -> code.differenceUniform(62, LOWEST, ADDED + 1).differenceUniform(63, HIGHEST, ADDED + 1).greatest(3, 3, 62).least(3, 3, 63));
    }

    @Test
    void limitsOfAnotherRegister() {
        refuses(code -> bounds(code).greatest(5, 5, BOUNDS).least(3, 3, BOUNDS + 1));
        refuses(code -> bounds(code).greatest(3, 3, BOUNDS).least(5, 5, BOUNDS + 1));
        refuses(code -> bounds(code).greatest(3, 5, BOUNDS).least(3, 3, BOUNDS + 1));
        refuses(code -> bounds(code).greatest(3, 3, BOUNDS).least(3, 5, BOUNDS + 1));
        refuses(code -> bounds(code).greatest(2, 2, BOUNDS).least(2, 2, BOUNDS + 1));
        refuses(fence(new CodeWords()).loadBySum(0, 4, ADDED).exit());
    }

    @Test
    void oneLimitAloneOrTwiceOrTheOtherWayRound() {
        refuses(code -> bounds(code).greatest(3, 3, BOUNDS));
        refuses(code -> bounds(code).least(3, 3, BOUNDS + 1));
        refuses(code -> bounds(code).least(3, 3, BOUNDS + 1).greatest(3, 3, BOUNDS));
        refuses(code -> bounds(code).greatest(3, 3, BOUNDS + 1).least(3, 3, BOUNDS));
        refuses(code -> bounds(code).greatest(3, 3, BOUNDS).greatest(3, 3, BOUNDS + 1));
    }

    /** Bit 72: numbers without a sign, of which a bound below 0 is a large one. */
    @Test
    void limitsWithoutASign() {
        long[] words = fence(new CodeWords()).words();
        for (int i : new int[] {2, 3}) {
            long[] changed = words.clone();
            changed[2 * i + 1] &= ~(1L << 8);
            CodeWords code = new CodeWords();
            for (int j = 0; j < words.length; j += 2) {
                code.add(changed[j], changed[j + 1]);
            }
            refuses(code.loadBySum(0, 2, ADDED).exit());
        }
    }

    @Test
    void limitsUnderAnotherPredicate() {
        accepts(bounds(new CodeWords()).greatest(3, 3, BOUNDS).under(1).least(3, 3, BOUNDS + 1).under(1).loadBySum(0, 2, ADDED).under(1).exit());
        refuses(code -> bounds(code).greatest(3, 3, BOUNDS).under(1).least(3, 3, BOUNDS + 1));
        refuses(code -> bounds(code).greatest(3, 3, BOUNDS).least(3, 3, BOUNDS + 1).under(1));
        refuses(bounds(new CodeWords()).greatest(3, 3, BOUNDS).under(9).least(3, 3, BOUNDS + 1).under(9).loadBySum(0, 2, ADDED).under(1).exit());
        refuses(code -> bounds(code).under(1).greatest(3, 3, BOUNDS).least(3, 3, BOUNDS + 1));
    }

    @Test
    void aPredicateThatChangesBetweenLimitsAndAccess() {
        accepts(compared(13));
        refuses(compared(1));
    }

    private static CodeWords compared(int cycles) {
        return new CodeWords().compare(1, 6, 7).stalling(cycles).differenceUniform(BOUNDS, LOWEST, ADDED + 1).stalling(1)
                .differenceUniform(BOUNDS + 1, HIGHEST, ADDED + 1).stalling(6).greatest(3, 3, BOUNDS).under(1).least(3, 3, BOUNDS + 1).under(1)
                .loadBySum(0, 2, ADDED).under(1).exit();
    }

    @Test
    void somethingBetween() {
        refuses(code -> bounds(code).greatest(3, 3, BOUNDS).least(3, 3, BOUNDS + 1).sum(3, 6, 7));
        refuses(code -> bounds(code).greatest(3, 3, BOUNDS).least(3, 3, BOUNDS + 1).toUniform(ADDED + 1, 6));
        refuses(code -> bounds(code).toUniform(BOUNDS, 6).greatest(3, 3, BOUNDS).least(3, 3, BOUNDS + 1));
        refuses(code -> code.differenceUniform(BOUNDS, LOWEST, ADDED + 1).nothing().differenceUniform(BOUNDS + 1, HIGHEST, ADDED + 1)
                .greatest(3, 3, BOUNDS).least(3, 3, BOUNDS + 1));
        accepts(bounds(new CodeWords()).nothing().greatest(3, 3, BOUNDS).nothing().least(3, 3, BOUNDS + 1).nothing().loadBySum(0, 2, ADDED).exit());
    }

    @Test
    void aJumpIntoTheFence() {
        for (int place = 2; place <= 5; place++) {
            CodeWords code = fence(new CodeWords().branch(place).under(0)).loadBySum(0, 2, ADDED).exit();
            refuses(code);
        }
        CodeWords before = fence(new CodeWords().branch(1).under(0)).loadBySum(0, 2, ADDED).exit();
        accepts(before);
        CodeWords straight = fence(new CodeWords()).loadBySum(0, 2, ADDED).exit();
        accepts(straight);
        refuses(straight, 4);
        CodeWords copied = copy(new CodeWords()).loadByBase(0, 255, BOUNDS).exit();
        accepts(copied);
        refuses(copied, 1);
        refuses(copied, 2);
    }

    @Test
    void resultsThatAreUsedTooEarly() {
        refuses(code -> bounds(code).stalling(5).greatest(3, 3, BOUNDS).least(3, 3, BOUNDS + 1));
        refuses(code -> bounds(code).greatest(3, 3, BOUNDS).stalling(4).least(3, 3, BOUNDS + 1));
        refuses(code -> bounds(code).greatest(3, 3, BOUNDS).least(3, 3, BOUNDS + 1).stalling(4));
        refuses(code -> bounds(code).greatest(3, 3, BOUNDS).reusing(1).least(3, 3, BOUNDS + 1));
    }

    /** The load writes R3 behind the limits, unless they wait for its scoreboard. */
    @Test
    void aLoadThatWritesTheRegisterBehindTheFence() {
        CodeWords load = new CodeWords().move(40, HIGH).logic(9, 9, FENCE.mask(), 40, 0xea).loadPair(2, 8);
        refuses(fence(load).loadBySum(0, 2, ADDED).exit());
        CodeWords waited = new CodeWords().move(40, HIGH).logic(9, 9, FENCE.mask(), 40, 0xea).loadPair(2, 8);
        accepts(bounds(waited.differenceUniform(BOUNDS, 0, 4).waiting(1 << 2)).greatest(3, 3, BOUNDS).least(3, 3, BOUNDS + 1)
                .loadBySum(0, 2, ADDED).exit());
    }

    /** A register between two bounds need not be in the window itself. */
    @Test
    void theLimitsAreNoFenceOfAPlainAccess() {
        String unseen = "whose address is not seen to be in the window";
        CodeWords plain = fence(new CodeWords()).loadBySum(0, 2, ADDED).load(4, 2).exit();
        assertTrue(assertThrows(MachineCodeException.class, () -> verify(plain)).getMessage().contains(unseen));
        CodeWords lost = fence(new CodeWords().move(40, HIGH).logic(3, 3, FENCE.mask(), 40, 0xea)).loadBySum(0, 2, ADDED).load(4, 2).exit();
        assertTrue(assertThrows(MachineCodeException.class, () -> verify(lost)).getMessage().contains(unseen));
    }

    @Test
    void oddAndMissingRegisters() {
        refuses(bounds(new CodeWords()).greatest(4, 4, BOUNDS).least(4, 4, BOUNDS + 1).loadBySum(0, 3, ADDED).exit());
        refuses(fence(new CodeWords()).loadBySum(0, 255, ADDED).exit());
        refuses(code -> code.differenceUniform(BOUNDS, LOWEST, ADDED).differenceUniform(BOUNDS + 1, HIGHEST, ADDED).greatest(3, 3, BOUNDS)
                .least(3, 3, BOUNDS + 1));
        refuses(code62().loadBySum(0, 2, 62).exit());
    }

    private static CodeWords code62() {
        return new CodeWords().differenceUniform(BOUNDS, LOWEST, 63).differenceUniform(BOUNDS + 1, HIGHEST, 63).greatest(3, 3, BOUNDS)
                .least(3, 3, BOUNDS + 1);
    }

    @Test
    void aCopyThatIsNotForced() {
        accepts(copy(new CodeWords()).loadByBase(0, 255, BOUNDS).exit());
        refuses(copy(new CodeWords()).loadByBase(0, 255, ADDED).exit());
        refuses(copy(new CodeWords()).loadByBase(0, 2, BOUNDS).exit());
        refuses(new CodeWords().logicUniform(BOUNDS + 1, ADDED + 1, HIGH, OR).loadByBase(0, 255, BOUNDS).exit());
        refuses(new CodeWords().logicUniform(BOUNDS + 1, ADDED + 1, HIGH | FENCE.mask(), AND).logicUniform(BOUNDS + 1, BOUNDS + 1, HIGH, OR)
                .loadByBase(0, 255, BOUNDS).exit());
        refuses(new CodeWords().logicUniform(BOUNDS + 1, ADDED + 1, HIGH, OR).logicUniform(BOUNDS + 1, ADDED + 1, HIGH | FENCE.mask(), AND)
                .loadByBase(0, 255, BOUNDS).exit());
        refuses(new CodeWords().logicUniform(BOUNDS, ADDED, HIGH, OR).logicUniform(BOUNDS, BOUNDS, HIGH | FENCE.mask(), AND)
                .loadByBase(0, 255, BOUNDS).exit());
        refuses(copy(new CodeWords()).stalling(5).loadByBase(0, 255, BOUNDS).exit());
        refuses(new CodeWords().logicUniform(63, ADDED + 1, HIGH, OR).logicUniform(63, 63, HIGH | FENCE.mask(), AND).loadByBase(0, 255, 62).exit());
    }

    /** If the address register is written before the access has read it, the refusal names this. */
    @Test
    void anAddressThatTheNextFenceChanges() throws MachineCodeException {
        CodeWords twice = fence(new CodeWords()).loadBySum(0, 2, ADDED).sum(3, 6, 7).exit();
        assertEquals("a IADD3 that may change an address before an access has read it at offset 0x50", verify(twice));
        assertEquals(0, InstructionWord.waits(twice.words()[11]));
    }

    @Test
    void boundsHoldOverAllWaysUntilWhatTheyAreTakenFromChanges() {
        CodeWords loop = bounds(new CodeWords()).greatest(3, 3, BOUNDS).least(3, 3, BOUNDS + 1).loadBySum(0, 2, ADDED).branch(2).under(0).exit();
        accepts(loop);
        refuses(bounds(new CodeWords()).greatest(3, 3, BOUNDS).least(3, 3, BOUNDS + 1).loadBySum(0, 2, ADDED).toUniform(ADDED + 1, 6).branch(2)
                .under(0)
                .exit());
        refuses(bounds(new CodeWords()).greatest(3, 3, BOUNDS).least(3, 3, BOUNDS + 1).loadBySum(0, 2, ADDED).toUniform(BOUNDS + 1, 6).branch(2)
                .under(0)
                .exit());
        refuses(new CodeWords().branch(3).under(0).differenceUniform(BOUNDS, LOWEST, ADDED + 1).differenceUniform(BOUNDS + 1, HIGHEST, ADDED + 1)
                .greatest(3, 3, BOUNDS).least(3, 3, BOUNDS + 1).loadBySum(0, 2, ADDED).exit());
        refuses(new CodeWords().branch(2).under(0).differenceUniform(BOUNDS, LOWEST, ADDED + 1).differenceUniform(BOUNDS + 1, HIGHEST, ADDED + 1)
                .greatest(3, 3, BOUNDS).least(3, 3, BOUNDS + 1).loadBySum(0, 2, ADDED).exit());
    }

    @Test
    void boundsHoldWhereThreadsMeet() {
        accepts(bounds(new CodeWords()).meeting(0, 5).branch(4).under(0).meet(0).greatest(3, 3, BOUNDS).least(3, 3, BOUNDS + 1)
                .loadBySum(0, 2, ADDED).exit());
        refuses(bounds(new CodeWords()).meeting(0, 6).branch(5).under(0).toUniform(ADDED + 1, 6).meet(0).greatest(3, 3, BOUNDS)
                .least(3, 3, BOUNDS + 1).loadBySum(0, 2, ADDED).exit());
    }

    @Test
    void limitsThatAreNotReady() {
        accepts(bounds(new CodeWords()).greatest(3, 3, BOUNDS).stalling(2).sum(8, 6, 7).stalling(3).least(3, 3, BOUNDS + 1).stalling(2).sum(8, 6, 7)
                .stalling(3).loadBySum(0, 2, ADDED).exit());
        refuses(bounds(new CodeWords()).greatest(3, 3, BOUNDS).stalling(2).sum(8, 6, 7).stalling(2).least(3, 3, BOUNDS + 1).loadBySum(0, 2, ADDED)
                .exit());
        refuses(bounds(new CodeWords()).greatest(3, 3, BOUNDS).least(3, 3, BOUNDS + 1).stalling(2).sum(8, 6, 7).stalling(2).loadBySum(0, 2, ADDED)
                .exit());
        refuses(bounds(new CodeWords()).stalling(5).greatest(3, 3, BOUNDS).least(3, 3, BOUNDS + 1).loadBySum(0, 2, ADDED).exit());
    }

    @Test
    void limitsForAnotherUniformRegisterReplaceThose() {
        CodeWords both = fence(new CodeWords()).differenceUniform(58, LOWEST, 31).differenceUniform(59, HIGHEST, 31).greatest(3, 3, 58).least(3, 3,
                59);
        accepts(both.loadBySum(0, 2, 30).exit());
        refuses(fence(new CodeWords()).differenceUniform(58, LOWEST, 31).differenceUniform(59, HIGHEST, 31).greatest(3, 3, 58).least(3, 3, 59)
                .loadBySum(0, 2, ADDED).exit());
        refuses(bounds(new CodeWords()).differenceUniform(58, LOWEST, 31).differenceUniform(59, HIGHEST, 31).greatest(3, 3, BOUNDS).least(3, 3, 59)
                .loadBySum(0, 2, ADDED).exit());
    }
}
