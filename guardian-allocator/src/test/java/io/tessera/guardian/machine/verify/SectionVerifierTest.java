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
import io.tessera.guardian.machine.code.Kind;
import io.tessera.guardian.machine.code.SectionFlow;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Code with one fault is refused; the same code without it is accepted, which each test asserts first. */
class SectionVerifierTest {
    private static final int BASE = 40;
    private static final int UNIFORM = 58;
    private static final int HIGH = MachineFences.MASK.baseHigh();
    private static final int SIZE = MachineFences.MASK.mask();
    private static final int LOW_HIGH = MachineFences.LOW_WORD.baseHigh();
    private static final int AND_OR = 0xea;
    private static final int OR = 0xfc;
    private static final int AND = 0xc0;
    private static final String UNSEEN = "a LDG whose address is not seen to be in the window at offset 0x";
    private static final String OTHER_UNIFORM = "a LDG by a uniform register that is not the window's base at offset 0x";

    private static CodeWords start() {
        return new CodeWords().move(BASE, HIGH);
    }

    private static CodeWords fence(CodeWords code, int register) {
        return code.logic(register, register, SIZE, BASE, AND_OR);
    }

    /** A stall of more than 11 cycles with the bit that keeps the warp has no known length. */
    @Test
    void aBaseThatIsLoadedWithAStallOfNoKnownLength() {
        accepts(MachineFences.MASK, fence(start().stalling(11), 3).load(0, 2).exit());
        assertEquals("the window's base is used before it is loaded at offset 0x0",
                refusal(MachineFences.MASK, fence(start().stalling(15), 3).load(0, 2).exit()));
    }

    private static CodeWords uniformStart() {
        return new CodeWords().moveUniform(UNIFORM, 0).moveUniform(UNIFORM + 3, LOW_HIGH).moveUniform(UNIFORM + 1, LOW_HIGH);
    }

    /** Relocations for all calls of functions elsewhere, as a linker leaves them. */
    private static Set<Long> calls(CodeWords code, int... entered) throws MachineCodeException {
        SectionFlow flow = code.flow(entered);
        return IntStream.range(0, flow.count()).filter(i -> flow.operation(i).kind() == Kind.CALL_SYMBOL)
                .mapToObj(i -> (long) i * InstructionWord.BYTES).collect(Collectors.toSet());
    }

    private static void accepts(MachineFence fence, CodeWords code, int... entered) {
        assertDoesNotThrow(() -> new SectionVerifier(code.flow(entered), fence, calls(code, entered)).verify());
    }

    private static String refusal(MachineFence fence, CodeWords code, int... entered) {
        return assertThrows(MachineCodeException.class, () -> new SectionVerifier(code.flow(entered), fence, calls(code, entered)).verify())
                .getMessage();
    }

    /** Accepted with the identity in a place of the code, refused with a change there. */
    private static void differ(MachineFence fence, UnaryOperator<CodeWords> good, UnaryOperator<CodeWords> bad, UnaryOperator<CodeWords> code,
            String why) {
        accepts(fence, code.apply(good.apply(fence.mask() == 0 ? uniformStart() : start())));
        assertEquals(why, refusal(fence, code.apply(bad.apply(fence.mask() == 0 ? uniformStart() : start()))));
    }

    @Test
    void anAccessWithoutAFence() {
        differ(MachineFences.MASK, code -> fence(code, 3), CodeWords::nothing, code -> code.load(0, 2).exit(), UNSEEN + "20");
        differ(MachineFences.LOW_WORD, code -> code.loadByBase(0, 2, UNIFORM), code -> code.load(0, 2), CodeWords::exit, UNSEEN + "30");
    }

    /** A place that a branch leads to directly behind the load of the base does not make it come earlier. */
    @Test
    void aBaseThatIsUsedBeforeItIsLoaded() {
        for (int stall : new int[] {6, 1}) {
            CodeWords code = new CodeWords().moveUniform(UNIFORM + 1, LOW_HIGH).stalling(stall).loadByBase(0, 2, UNIFORM).branch(1).under(0).exit();
            if (stall == 6) {
                accepts(MachineFences.LOW_WORD, code);
            } else {
                assertEquals("the window's base is used before it is loaded at offset 0x0", refusal(MachineFences.LOW_WORD, code));
            }
        }
    }

    @Test
    void aFenceOfAnotherRegister() {
        differ(MachineFences.MASK, code -> fence(code, 3), code -> fence(code, 5), code -> code.load(0, 2).exit(), UNSEEN + "20");
        differ(MachineFences.MASK, code -> fence(code, 3), code -> fence(code, 2), code -> code.load(0, 2).exit(), UNSEEN + "20");
    }

    @Test
    void aFenceWithAnotherBaseOrMask() {
        UnaryOperator<CodeWords> load = code -> code.load(0, 2).exit();
        differ(MachineFences.MASK, code -> fence(code, 3), code -> code.logic(3, 3, 2 * SIZE + 1, BASE, AND_OR), load, UNSEEN + "20");
        differ(MachineFences.MASK, code -> fence(code, 3), code -> code.logic(3, 3, SIZE, BASE + 1, AND_OR), load, UNSEEN + "20");
        UnaryOperator<CodeWords> two = code -> code.logic(3, 3, HIGH, 255, OR).logic(3, 3, HIGH | SIZE, 255, AND);
        differ(MachineFences.MASK, two, code -> code.logic(3, 3, HIGH + 0x40, 255, OR).logic(3, 3, HIGH | SIZE, 255, AND), load, UNSEEN + "30");
        differ(MachineFences.MASK, two, code -> code.logic(3, 3, HIGH, 255, OR).logic(3, 3, -1, 255, AND), load, UNSEEN + "30");
        CodeWords good = fence(new CodeWords().move(BASE, HIGH), 3).load(0, 2).exit();
        accepts(MachineFences.MASK, good);
        assertEquals(UNSEEN + "20", refusal(MachineFences.MASK, fence(new CodeWords().move(BASE, HIGH + 0x40), 3).load(0, 2).exit()));
        CodeWords uniform = new CodeWords().moveUniform(UNIFORM + 1, LOW_HIGH).loadByBase(0, 2, UNIFORM).exit();
        accepts(MachineFences.LOW_WORD, uniform);
        CodeWords other = new CodeWords().moveUniform(UNIFORM + 1, LOW_HIGH + 1).loadByBase(0, 2, UNIFORM).exit();
        assertEquals(OTHER_UNIFORM + "10", refusal(MachineFences.LOW_WORD, other));
    }

    @Test
    void aFenceUnderAnotherPredicate() {
        UnaryOperator<CodeWords> good = code -> fence(code, 3).under(2);
        differ(MachineFences.MASK, good, code -> fence(code, 3).under(1), code -> code.load(0, 2).under(2).exit(), UNSEEN + "20");
        differ(MachineFences.MASK, good, code -> fence(code, 3).under(10), code -> code.load(0, 2).under(2).exit(), UNSEEN + "20");
        differ(MachineFences.MASK, code -> fence(code, 3), good, code -> code.load(0, 2).exit(), UNSEEN + "20");
        differ(MachineFences.MASK, code -> fence(code.compare(2, 6, 7), 3).under(2), code -> fence(code, 3).under(2).compare(2, 6, 7),
                code -> code.load(0, 2).under(2).exit(), UNSEEN + "30");
    }

    @Test
    void aJumpBetweenTheFenceAndTheAccess() {
        CodeWords good = fence(start().branch(2).under(0), 3).load(0, 2).exit();
        accepts(MachineFences.MASK, good);
        assertEquals(UNSEEN + "30", refusal(MachineFences.MASK, fence(start().branch(3).under(0), 3).load(0, 2).exit()));
        CodeWords straight = fence(start(), 3).load(0, 2).exit();
        accepts(MachineFences.MASK, straight);
        assertEquals(UNSEEN + "20", refusal(MachineFences.MASK, straight, 2), "a table or a symbol names the access");
    }

    @Test
    void theRegisterIsOverwrittenBetween() {
        UnaryOperator<CodeWords> load = code -> code.load(0, 2).exit();
        differ(MachineFences.MASK, code -> fence(code, 3).sum(2, 6, 7), code -> fence(code, 3).sum(3, 6, 7), load, UNSEEN + "30");
        differ(MachineFences.MASK, code -> fence(code, 3).wideProduct(4, 6, 7, 8), code -> fence(code, 3).wideProduct(2, 6, 7, 8), load,
                UNSEEN + "30");
        differ(MachineFences.MASK, code -> fence(fence(code, 3), 9).loadPair(12, 8), code -> fence(fence(code, 3), 9).loadPair(2, 8), load,
                UNSEEN + "40");
        differ(MachineFences.MASK, code -> fence(code, 3).sum(2, 6, 7).under(0), code -> fence(code, 3).sum(3, 6, 7).under(0), load, UNSEEN + "30");
    }

    @Test
    void theBaseRegisterIsWrittenAgain() {
        UnaryOperator<CodeWords> rest = code -> fence(code, 3).load(0, 2).exit();
        differ(MachineFences.MASK, code -> code.move(BASE + 1, 5), code -> code.sum(BASE, 6, 7), rest,
                "a IADD3 that may write the window's base at offset 0x10");
        differ(MachineFences.MASK, code -> code.wideProduct(BASE + 1, 5, 6, 7), code -> code.wideProduct(BASE - 1, 5, 6, 7), rest,
                "a IMAD.WIDE that may write the window's base at offset 0x10");
        CodeWords late = fence(start(), 3).load(0, 2).exit().nothing().exit();
        accepts(MachineFences.MASK, late);
        assertEquals("a MOV that may write the window's base at offset 0x40",
                refusal(MachineFences.MASK, fence(start(), 3).load(0, 2).exit().move(BASE, HIGH + 1).exit()));
    }

    @Test
    void theUniformBaseIsWrittenAgain() {
        UnaryOperator<CodeWords> rest = code -> code.loadByBase(0, 2, UNIFORM).exit();
        differ(MachineFences.LOW_WORD, code -> code.nothing().moveUniform(8, 7), code -> code.nothing().moveUniform(UNIFORM + 1, 7), rest,
                "a UMOV that may write the window's base at offset 0x40");
        differ(MachineFences.LOW_WORD, code -> code.nothing().toUniform(8, 6), code -> code.nothing().toUniform(UNIFORM + 1, 6), rest,
                "a R2UR that may write the window's base at offset 0x40");
    }

    /** {@code UIADD3.64} and {@code ULDC.64} write a pair. */
    @Test
    void theUniformBaseIsTheSecondRegisterOfAResult() {
        UnaryOperator<CodeWords> rest = code -> code.loadByBase(0, 2, UNIFORM).exit();
        long loadConstant = 0x0000820000007ab9L;
        differ(MachineFences.LOW_WORD, code -> code.nothing().add(loadConstant | 4 << 16, 0x000fe20000000a00L),
                code -> code.nothing().add(loadConstant | UNIFORM << 16, 0x000fe20000000a00L), rest,
                "a ULDC that may write the window's base at offset 0x40");
    }

    @Test
    void theBaseIsNotLoadedAgainAfterACall() {
        UnaryOperator<CodeWords> rest = code -> code.loadByBase(0, 2, UNIFORM).exit();
        UnaryOperator<CodeWords> again = code -> code.callSymbol().moveUniform(UNIFORM, 0).moveUniform(UNIFORM + 3, LOW_HIGH).moveUniform(UNIFORM + 1,
                LOW_HIGH);
        differ(MachineFences.LOW_WORD, again, CodeWords::callSymbol, rest, "after a call the window's base is not loaded again at offset 0x40");
        differ(MachineFences.LOW_WORD, again, code -> code.callSymbol().moveUniform(UNIFORM, 0).moveUniform(UNIFORM + 1, LOW_HIGH), rest,
                "after a call the window's base is not loaded again at offset 0x40");
        accepts(MachineFences.MASK, fence(start(), 3).load(0, 2).exit());
        assertEquals("a CALL that may write the window's base at offset 0x10",
                refusal(MachineFences.MASK, fence(start().callSymbol(), 3).load(0, 2).exit()));
    }

    @Test
    void aBranchBehindTheReloadOfACallIsAccepted() {
        CodeWords good = uniformStart().callSymbol().moveUniform(UNIFORM + 3, LOW_HIGH).moveUniform(UNIFORM + 1, LOW_HIGH).loadByBase(0, 2, UNIFORM)
                .exit();
        accepts(MachineFences.LOW_WORD, good);
    }

    @Test
    void aBaseThatIsLoadedUnderAPredicateOrBehindTheStart() {
        accepts(MachineFences.MASK, fence(start(), 3).load(0, 2).exit());
        assertEquals(UNSEEN + "20", refusal(MachineFences.MASK, fence(new CodeWords().move(BASE, HIGH).under(0), 3).load(0, 2).exit()));
        assertEquals(UNSEEN + "30", refusal(MachineFences.MASK, fence(new CodeWords().nothing().move(BASE, HIGH), 3).load(0, 2).exit()));
        accepts(MachineFences.LOW_WORD, uniformStart().loadByBase(0, 2, UNIFORM).exit());
        CodeWords perhaps = new CodeWords().moveUniform(UNIFORM + 1, LOW_HIGH).under(0).loadByBase(0, 2, UNIFORM).exit();
        assertEquals(OTHER_UNIFORM + "10", refusal(MachineFences.LOW_WORD, perhaps));
        CodeWords late = new CodeWords().nothing().moveUniform(UNIFORM + 1, LOW_HIGH).loadByBase(0, 2, UNIFORM).exit();
        assertEquals(OTHER_UNIFORM + "20", refusal(MachineFences.LOW_WORD, late));
    }

    /** A branch that leads over the instruction that loads the base. */
    @Test
    void aBaseThatIsJumpedOver() {
        accepts(MachineFences.LOW_WORD, uniformStart().loadByBase(0, 2, UNIFORM).branch(3).under(0).exit());
        CodeWords over = new CodeWords().moveUniform(UNIFORM, 0).moveUniform(UNIFORM + 1, LOW_HIGH).loadByBase(0, 2, UNIFORM).exit();
        accepts(MachineFences.LOW_WORD, over);
        assertEquals(OTHER_UNIFORM + "20", refusal(MachineFences.LOW_WORD, over, 1), "a symbol or a table names the instruction that loads it");
    }

    @Test
    void codeThatRunsOverItsEnd() {
        accepts(MachineFences.MASK, start().exit().nothing());
        assertEquals("execution may run over the end of the function at offset 0x20", refusal(MachineFences.MASK, start().nothing().nothing()));
        accepts(MachineFences.MASK, start().exit());
        assertEquals("execution may run over the end of the function at offset 0x10", refusal(MachineFences.MASK, start().exit().under(0)));
    }

    /** TLD: a texture says which memory it reaches. */
    @Test
    void anAccessByATexture() {
        assertEquals("a TLD, whose texture is not checked at offset 0x0",
                refusal(MachineFences.MASK, new CodeWords().add(0x0000000000007f66L, 0x08000000L).exit()));
    }

    /** Words that an attack on this class was made of. Each was accepted once. */
    @Test
    void instructionsThatOnlyLookLikeEnds() {
        long control = 0x000fe20000000000L;
        accepts(MachineFences.MASK, start().exit());
        refusal(MachineFences.MASK, start().add(0x0000000014007950L, 0x07e00000L | control)); // RET.ABS.NODEC !PT
        refusal(MachineFences.MASK, start().add(0x000000040000795cL, 0x00400000L | control)); // BPT.INT
    }

    @Test
    void aCallOfALiteralAndASpecialRegister() {
        assertTrue(assertThrows(MachineCodeException.class,
                () -> new SectionVerifier(start().add(0x0000001000007943L, 0x000fd00003c0007fL).exit().flow(), MachineFences.MASK, Set.of()).verify())
                .getMessage().startsWith("a call of an address"));
        assertTrue(assertThrows(MachineCodeException.class, () -> start().add(0x000000001e007356L, 0).exit().flow()).getMessage()
                .startsWith("an instruction that is not known"), "BMOV into ATEXIT_PC");
    }

    @Test
    void aFenceWhoseResultIsUsedTooEarly() {
        accepts(MachineFences.MASK, fence(start(), 3).store(2, 0).exit());
        assertTrue(refusal(MachineFences.MASK, fence(start(), 3).stalling(4).store(2, 0).exit()).contains("not seen to be in the window"));
    }

    @Test
    void anOddAddressRegister() {
        differ(MachineFences.MASK, code -> fence(code, 3).load(8, 2), code -> fence(code, 4).load(8, 3), CodeWords::exit, UNSEEN + "20");
    }

    @Test
    void anAddressOfZeroRegisters() {
        differ(MachineFences.MASK, code -> fence(code, 3).load(8, 2), code -> fence(code, 3).load(8, 255), CodeWords::exit, UNSEEN + "20");
        differ(MachineFences.MASK, code -> fence(code, 3).load(8, 2), code -> fence(code, 3).load(8, 254), CodeWords::exit, UNSEEN + "20");
    }

    @Test
    void aDescriptorThatMayBeMadeOfData() {
        UnaryOperator<CodeWords> access = code -> fence(code, 3).loadByDescriptor(0, 2, 4).exit();
        String why = "a LDG by a descriptor that is not seen to be the driver's at offset 0x30";
        differ(MachineFences.MASK, code -> code.loadDescriptor(4), code -> code.toUniform(4, 8), access, why);
        differ(MachineFences.MASK, code -> code.loadDescriptor(4), code -> code.loadConstant(4, 0x210, 5), access, why);
        differ(MachineFences.MASK, code -> code.loadDescriptor(4), CodeWords::nothing, access, why);
        UnaryOperator<CodeWords> store = code -> fence(code, 3).storeByDescriptor(2, 0, 4).exit();
        differ(MachineFences.MASK, code -> code.loadDescriptor(4).toUniform(6, 8), code -> code.loadDescriptor(4).toUniform(5, 8), store,
                "a STG by a descriptor that is not seen to be the driver's at offset 0x40");
    }

    @Test
    void anAddressOfThirtyTwoBits() {
        long[] load = new CodeWords().load(8, 2).words();
        differ(MachineFences.MASK, code -> code.add(load[0], load[1]), code -> code.add(load[0], load[1] & ~(1L << 8)), CodeWords::exit,
                "a LDG with an address of 32 bits at offset 0x20", code -> fence(code, 3));
        long[] described = new CodeWords().loadByDescriptor(8, 2, 4).words();
        differ(MachineFences.MASK, code -> code.add(described[0], described[1]), code -> code.add(described[0], described[1] & ~(1L << 26)),
                CodeWords::exit, "a LDG of an illegal form at offset 0x30", code -> fence(code.loadDescriptor(4), 3));
        long[] swap = new CodeWords().compareAndSwap(8, 2, 6, 7).words();
        differ(MachineFences.MASK, code -> code.add(swap[0], swap[1]), code -> code.add(swap[0], swap[1] & ~(1L << 8)), CodeWords::exit,
                "a ATOMG with an address of 32 bits at offset 0x20", code -> fence(code, 3));
    }

    private static void differ(MachineFence fence, UnaryOperator<CodeWords> good, UnaryOperator<CodeWords> bad, UnaryOperator<CodeWords> code,
            String why,
            UnaryOperator<CodeWords> before) {
        differ(fence, words -> good.apply(before.apply(words)), words -> bad.apply(before.apply(words)), code, why);
    }

    @Test
    void anAccessByAnotherUniformRegister() {
        for (int uniform : new int[] {UNIFORM - 2, 4, UNIFORM + 1, 63}) {
            differ(MachineFences.LOW_WORD, code -> code.loadByBase(0, 2, UNIFORM), code -> code.loadByBase(0, 2, uniform), CodeWords::exit,
                    OTHER_UNIFORM + "30");
        }
        long[] load = new CodeWords().loadByBase(0, 2, UNIFORM).words();
        differ(MachineFences.LOW_WORD, code -> code.add(load[0], load[1]), code -> code.add(load[0], load[1] | 1L << 26), CodeWords::exit,
                OTHER_UNIFORM + "30");
        differ(MachineFences.LOW_WORD, code -> code.add(load[0], load[1]), code -> code.add(load[0], load[1] | 1L << 12), CodeWords::exit,
                "a LDG of an illegal form at offset 0x30");
    }
}
