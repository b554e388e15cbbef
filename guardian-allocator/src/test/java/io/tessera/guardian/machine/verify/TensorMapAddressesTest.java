package io.tessera.guardian.machine.verify;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.machine.TensorMapPlaces;
import io.tessera.guardian.machine.CodeWords;
import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.code.SectionFlow;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Tests which code is shown to copy by tensor maps in its parameters, with the words that ptxas writes for sm_90. */
class TensorMapAddressesTest {
    private static final long ALWAYS = 7L << 12;
    private static final int ZERO = 63;
    private static final int NO_PREDICATE = 7;
    private static final int PARAMETERS = 0x198;
    private static final int BANK = 0xc0;
    private static final String UNSEEN = "a UTMALDG, whose tensor map is not seen to be a parameter at offset 0x";

    /** {@code ULDC.64 UR, c[0x0][offset]}. */
    private static CodeWords load(CodeWords code, int to, int offset) {
        return code.add(0xab9L | ALWAYS | (long) to << 16 | (long) offset << 38, 0x000fe20000000a00L);
    }

    /** {@code ULDC UR, c[0x0][offset]}. */
    private static CodeWords loadWord(CodeWords code, int to, int offset) {
        return code.add(0xab9L | ALWAYS | (long) to << 16 | (long) offset << 38, 0x000fe20000000800L);
    }

    /** {@code UIADD3 UR, UP, UR, number, URZ}. */
    private static CodeWords add(CodeWords code, int to, int carry, int from, int number) {
        return code.add(0x890L | ALWAYS | (long) to << 16 | (long) from << 24 | (long) number << 32, 0x000fe2000ff1e03fL | (long) carry << 17);
    }

    /** {@code UIADD3 UR, UP, UR, UR, URZ}. */
    private static CodeWords addRegister(CodeWords code, int to, int carry, int from, int other) {
        return code.add(0x290L | ALWAYS | (long) to << 16 | (long) from << 24 | (long) other << 32, 0x000fe2000ff1e03fL | (long) carry << 17);
    }

    /** {@code UIADD3.X UR, URZ, UR, URZ, UP, !UPT}. */
    private static CodeWords addCarry(CodeWords code, int to, int from, int carry) {
        return code.add(0x290L | ALWAYS | (long) to << 16 | (long) ZERO << 24 | (long) from << 32, 0x000fe200087fe43fL | (long) carry << 23);
    }

    /** {@code UIADD3.64 UR, UR, UR, URZ}. */
    private static CodeWords addWide(CodeWords code, int to, int from, int other) {
        return code.add(0x297L | ALWAYS | (long) to << 16 | (long) from << 24 | (long) other << 32, 0x000fe2000fffe03fL);
    }

    /** {@code USEL UR, UR, number, UP0}. */
    private static CodeWords select(CodeWords code, int to, int from, int number) {
        return code.add(0x887L | ALWAYS | (long) to << 16 | (long) from << 24 | (long) number << 32, 0x000fe20008000000L);
    }

    /** {@code UMOV UR, UR}. */
    private static CodeWords copy(CodeWords code, int to, int from) {
        return code.add(0xc82L | ALWAYS | (long) to << 16 | (long) from << 32, 0x000fe20008000000L);
    }

    /** {@code UTMALDG.2D [UR8], [map]}. */
    private static CodeWords tensorLoad(CodeWords code, int map) {
        return code.add(0x5b4L | ALWAYS | (long) map << 24 | 8L << 32, 0x000fe20008008000L);
    }

    private static CodeWords sum(int carry, int number) {
        CodeWords code = load(new CodeWords(), 4, PARAMETERS);
        return add(code, 20, carry, 4, number);
    }

    private static Set<Integer> found(CodeWords code, int... entered) throws MachineCodeException {
        return TensorMapAddresses.find(code.exit().flow(entered), Set.of(), true).single();
    }

    private static String refused(CodeWords code, int... entered) {
        return assertThrows(MachineCodeException.class, () -> found(code, entered)).getMessage();
    }

    @Test
    void aSumOfTheParametersAndANumber() throws MachineCodeException {
        assertEquals(Set.of(0x30), found(tensorLoad(addCarry(sum(0, 0x30), 21, 5, 0), 20)));
        assertEquals(Set.of(0), found(tensorLoad(load(new CodeWords(), 4, PARAMETERS), 4)));
        assertEquals(Set.of(0), found(tensorLoad(loadWord(loadWord(new CodeWords(), 4, PARAMETERS), 5, PARAMETERS + 4), 4)));
    }

    /** As in kernels of cuBLAS: the parameters begin at 0x210 of their bank. */
    @Test
    void aSumOfTheBankAndANumber() throws MachineCodeException {
        assertEquals(Set.of(0xb0),
                found(tensorLoad(addWide(load(new CodeWords().moveUniform(10, 0x2c0).moveUniform(11, 0), 4, BANK), 20, 4, 10), 20)));
        assertEquals(UNSEEN + "40",
                refused(tensorLoad(addWide(load(new CodeWords().moveUniform(10, 0x20c).moveUniform(11, 0), 4, BANK), 20, 4, 10), 20)));
    }

    @Test
    void codeWithoutCopiesHasNone() throws MachineCodeException {
        assertTrue(found(new CodeWords().nothing()).isEmpty());
    }

    @Test
    void ofTwoMapsBoth() throws MachineCodeException {
        CodeWords code = select(load(new CodeWords().moveUniform(10, 0x870), 4, PARAMETERS), 10, 10, 0x830).moveUniform(11, 0);
        assertEquals(Set.of(0x830, 0x870), found(tensorLoad(addWide(code, 20, 4, 10), 20)));
    }

    @Test
    void onEachWayAnother() throws MachineCodeException {
        CodeWords code = addCarry(sum(0, 0x30), 21, 5, 0).branch(5).under(0);
        add(code, 20, NO_PREDICATE, 20, 0x40);
        assertEquals(Set.of(0x30, 0x70), found(tensorLoad(code, 20)));
    }

    @Test
    void otherAddressesAreRefused() {
        String third = UNSEEN + "30";
        assertEquals(UNSEEN + "10", refused(tensorLoad(load(new CodeWords(), 4, 0x210), 4)), "a pointer among the parameters");
        assertEquals(UNSEEN + "10", refused(tensorLoad(new CodeWords().toUniform(4, 2), 4)), "a general register");
        assertEquals(third, refused(tensorLoad(addCarry(sum(0, -64), 21, 5, 0), 20)), "before the parameters");
        assertEquals(third, refused(tensorLoad(addCarry(sum(0, 1 << 15), 21, 5, 0), 20)), "behind the parameters");
        assertEquals(third, refused(tensorLoad(addCarry(sum(0, 0x30), 21, 5, 1), 20)), "another carry");
        assertEquals(third, refused(tensorLoad(addCarry(sum(0, 0x30), 21, 4, 0), 20)), "the low word twice");
        assertEquals(third, refused(tensorLoad(addCarry(sum(NO_PREDICATE, 0x30), 21, 5, NO_PREDICATE), 20)), "a carry that is always one");
        assertEquals(UNSEEN + "40", refused(tensorLoad(addCarry(sum(0, 0x30), 21, 5, 0).toUniform(20, 3), 20)), "overwritten");
        assertEquals(UNSEEN + "20", refused(tensorLoad(copy(load(new CodeWords(), 4, PARAMETERS), 7, 5), 6)), "half of a pair");
    }

    @Test
    void aCarryThatIsOverwrittenIsNone() {
        CodeWords code = sum(0, 0x30);
        addRegister(code, 30, 0, 31, 32);
        assertEquals(UNSEEN + "40", refused(tensorLoad(addCarry(code, 21, 5, 0), 20)));
    }

    @Test
    void aNumberThatGrowsInALoopIsRefused() {
        CodeWords code = addCarry(sum(0, 0), 21, 5, 0);
        add(code, 20, NO_PREDICATE, 20, 0x40);
        tensorLoad(code, 20).branch(3).under(0);
        assertEquals(UNSEEN + "40", refused(code));
    }

    @Test
    void underAPredicateTheOldAddressCountsToo() throws MachineCodeException {
        CodeWords code = add(addCarry(sum(0, 0x30), 21, 5, 0), 20, NO_PREDICATE, 20, 0x40).under(0);
        assertEquals(Set.of(0x30, 0x70), found(tensorLoad(code, 20)));
        assertEquals(UNSEEN + "40", refused(tensorLoad(addCarry(sum(0, 0x30), 21, 5, 0).toUniform(20, 3).under(0), 20)), "no address");
    }

    @Test
    void nothingIsKnownBehindACallOrWhereOthersEnter() {
        assertEquals(UNSEEN + "20", refused(tensorLoad(load(new CodeWords(), 4, PARAMETERS).callSymbol(), 4)));
        assertEquals(UNSEEN + "10", refused(tensorLoad(load(new CodeWords(), 4, PARAMETERS), 4), 1));
    }

    private static final long CONTROL = 0x000fe20000000000L;

    /** {@code MOV R, UR}. */
    private static CodeWords toGeneral(CodeWords code, int to, int from) {
        return code.add(0xc02L | ALWAYS | (long) to << 16 | (long) from << 32, CONTROL | 0x08000f00L);
    }

    /** {@code IMAD.MOV.U32 R, RZ, RZ, R}. */
    private static CodeWords copyGeneral(CodeWords code, int to, int from) {
        return code.add(0x224L | ALWAYS | (long) to << 16 | 0xffL << 24 | 0xffL << 32, CONTROL | 0x078e0000L | from);
    }

    /** {@code R2UR} of a pair, so that the copy takes its map from it. */
    private static CodeWords copyBy(CodeWords code, int pair) {
        return tensorLoad(code.toUniform(20, pair).toUniform(21, pair + 1), 20);
    }

    /** {@code LDC.64 R, c[0x0][0x198]}. */
    private static CodeWords loadGeneral(CodeWords code, int to) {
        return code.add(0xb82L | ALWAYS | (long) to << 16 | 0xffL << 24 | (long) PARAMETERS << 38, CONTROL | 0xa00L);
    }

    /** {@code IADD3 R, P0, R, number, RZ} and {@code IADD3.X R+1, RZ, R+1, RZ, P0, !PT}. */
    private static CodeWords addGeneral(CodeWords code, int pair, int number) {
        return code.add(0x810L | ALWAYS | (long) pair << 16 | (long) pair << 24 | (long) number << 32, CONTROL | 0x07f1e0ffL)
                .add(0x210L | ALWAYS | (long) (pair + 1) << 16 | 0xffL << 24 | (long) (pair + 1) << 32, CONTROL | 0x007fe4ffL);
    }

    /** {@code STL.64 [R1+offset], R} or {@code LDL.64 R, [R1+offset]}. */
    private static CodeWords stack(CodeWords code, boolean load, int pair, int offset) {
        return load ? code.add(0x983L | ALWAYS | (long) pair << 16 | 1L << 24 | (long) offset << 40, CONTROL | 0x00100a00L)
                : code.add(0x387L | ALWAYS | 1L << 24 | (long) pair << 32 | (long) offset << 40, CONTROL | 0x00100a00L);
    }

    @Test
    void throughGeneralRegistersAndSumsThere() throws MachineCodeException {
        CodeWords copied = toGeneral(toGeneral(load(new CodeWords(), 4, PARAMETERS), 8, 4), 9, 5);
        assertEquals(Set.of(0), found(copyBy(copyGeneral(copyGeneral(copied, 10, 8), 11, 9), 10)));
        assertEquals(Set.of(0x4f0), found(copyBy(addGeneral(loadGeneral(new CodeWords(), 8), 8, 0x4f0), 8)));
        assertEquals(UNSEEN + "50", refused(copyBy(addGeneral(loadGeneral(new CodeWords(), 8), 8, -64), 8)));
        assertEquals(UNSEEN + "40", refused(copyBy(loadGeneral(new CodeWords(), 8).sum(9, 3, 4), 8)), "the high word is overwritten");
        assertEquals(UNSEEN + "40", refused(copyBy(loadGeneral(new CodeWords(), 8).load(8, 2), 8)), "loaded from memory");
    }

    @Test
    void throughTheStackUnlessItsWordsMayBeOthers() throws MachineCodeException {
        CodeWords code = stack(stack(loadGeneral(new CodeWords(), 8), false, 8, 16), true, 12, 16);
        assertEquals(Set.of(0), found(copyBy(code, 12)));
        assertEquals(UNSEEN + "50", refused(copyBy(stack(stack(loadGeneral(new CodeWords(), 8), false, 8, 16), true, 12, 24), 12)), "another word");
        CodeWords overwritten = stack(stack(loadGeneral(new CodeWords(), 8), false, 8, 16), false, 2, 20);
        assertEquals(UNSEEN + "60", refused(copyBy(stack(overwritten, true, 12, 16), 12)), "the high word is overwritten");
        CodeWords moved = stack(loadGeneral(new CodeWords(), 8), false, 8, 16).sum(1, 1, 4);
        assertEquals(UNSEEN + "60", refused(copyBy(stack(moved, true, 12, 16), 12)), "another stack pointer");
        CodeWords elsewhere = stack(loadGeneral(new CodeWords(), 8), false, 8, 16).add(0x387L | ALWAYS | 7L << 24 | 2L << 32, CONTROL | 0x00100800L);
        assertEquals(UNSEEN + "60", refused(copyBy(stack(elsewhere, true, 12, 16), 12)), "a store by another register");
    }

    /** {@code IMAD.WIDE R8, R2, 0x40, R8}, as kernels of cuDNN choose one of several maps. */
    @Test
    void oneOfSeveralByAnIndexIsTakenOnTrust() throws MachineCodeException {
        CodeWords code = addGeneral(loadGeneral(new CodeWords(), 8), 8, 0x7b0);
        code.add(0x825L | ALWAYS | 8L << 16 | 2L << 24 | 0x40L << 32, CONTROL | 0x078e0200L | 8);
        TensorMapPlaces found = TensorMapAddresses.find(copyBy(code, 8).exit().flow(), Set.of(), true);
        assertEquals(new TensorMapPlaces(Set.of(), Set.of(0x7b0), false), found);
        assertEquals("a tensor map that an index takes among others", found.trusted());
        CodeWords uniform = load(new CodeWords(), 4, PARAMETERS);
        uniform.add(0x8a5L | ALWAYS | 20L << 16 | 6L << 24 | 0x40L << 32, CONTROL | 0x0f8e0200L | 4);
        assertEquals(Set.of(0), TensorMapAddresses.find(tensorLoad(uniform, 20).exit().flow(), Set.of(), true).many());
        CodeWords odd = load(new CodeWords(), 4, PARAMETERS);
        odd.add(0x8a5L | ALWAYS | 20L << 16 | 6L << 24 | 0x40L << 32, CONTROL | 0x0f8e0200L | 5);
        assertEquals(UNSEEN + "20", refused(tensorLoad(odd, 20)), "no pair");
        CodeWords other = addGeneral(loadGeneral(new CodeWords(), 8), 8, 0x7b0);
        other.add(0x825L | ALWAYS | 8L << 16 | 2L << 24 | 0x20L << 32, CONTROL | 0x078e0200L | 8);
        assertEquals(UNSEEN + "60", refused(copyBy(other, 8)), "half a map");
    }

    @Test
    void anAddressUnderAPredicateIsTakenOnTrust() throws MachineCodeException {
        CodeWords code = loadGeneral(new CodeWords(), 8).toUniform(20, 8).under(5).toUniform(21, 9).under(5);
        TensorMapPlaces found = TensorMapAddresses.find(tensorLoad(code, 20).exit().flow(), Set.of(), true);
        assertEquals(Set.of(0), found.single());
        assertEquals("a tensor map whose address is computed under a predicate", found.trusted());
    }

    /** {@code ULOP3.LUT UR, UR, UR, URZ, 0x3c, !UPT} three times, as kernels of cuBLAS do it. */
    private static CodeWords exclusiveOr(CodeWords code, int to, int one, int other) {
        return code.add(0x292L | ALWAYS | (long) to << 16 | (long) one << 24 | (long) other << 32, CONTROL | 0x0f8e3c3fL);
    }

    /** Registers that read as zero have no upper half: what follows them by number is another kind of register. */
    @Test
    void aPairThatIsNotWritten() throws MachineCodeException {
        CodeWords general = load(new CodeWords(), 4, PARAMETERS).add(0xff0b82L | ALWAYS | 0xff000000L | (long) PARAMETERS << 38, CONTROL | 0xa00L);
        assertEquals(UNSEEN + "30", refused(tensorLoad(copy(general, 5, 0), 4)), "LDC.64 RZ does not write UR0");
        CodeWords uniform = load(load(new CodeWords(), 4, PARAMETERS), ZERO, PARAMETERS).add(0x0000000001007983L | 9L << 16, CONTROL | 0x100800L);
        assertEquals(UNSEEN + "40", refused(tensorLoad(uniform.toUniform(5, 9), 4)), "ULDC.64 URZ does not write the stack");
        assertEquals(Set.of(0), found(tensorLoad(load(new CodeWords(), 4, PARAMETERS), 4)));
    }

    /** The sum of the low words carries where one of them is negative, or not known. */
    @Test
    void aWideSumThatMayCarry() throws MachineCodeException {
        for (int number : new int[] {0x40, -1}) {
            CodeWords code = load(new CodeWords(), 4, PARAMETERS).moveUniform(6, 0x4000);
            addWide(copy(code, 7, 5).moveUniform(8, number).moveUniform(9, 0), 10, 6, 8);
            CodeWords copied = tensorLoad(copy(copy(code, 21, 11), 20, 4), 20);
            if (number > 0) {
                assertEquals(Set.of(0), found(copied));
            } else {
                assertEquals(UNSEEN + "80", refused(copied));
            }
        }
        CodeWords unknown = addWide(copy(load(new CodeWords(), 4, PARAMETERS).moveUniform(6, 1), 7, 5).moveUniform(9, 0), 10, 6, 8);
        assertEquals(UNSEEN + "70", refused(tensorLoad(copy(copy(unknown, 21, 11), 20, 4), 20)));
    }

    /** Two low words that may be the same are not: by exclusive or, the high word does not come out of them. */
    @Test
    void anExchangeOfAnotherWord() throws MachineCodeException {
        for (boolean other : new boolean[] {false, true}) {
            CodeWords code = select(load(new CodeWords().moveUniform(10, 0x870), 4, PARAMETERS), 10, 10, 0x830).moveUniform(11, 0);
            addWide(code, 20, 4, 10);
            exclusiveOr(code, 22, 20, 21);
            exclusiveOr(code, 24, 22, 21);
            if (other) {
                select(load(code.moveUniform(12, 0x870), 4, PARAMETERS), 12, 12, 0x830).moveUniform(13, 0);
                addWide(code, 26, 4, 12);
                code.add(0x287L | ALWAYS | 24L << 16 | 24L << 24 | 26L << 32, CONTROL | 0x08000000L); // USEL UR24, UR24, UR26, UP0
            }
            exclusiveOr(code, 25, 22, 24);
            CodeWords copied = tensorLoad(copy(copy(code, 31, 25), 30, 20), 30);
            if (other) {
                assertEquals(UNSEEN + "100", refused(copied));
            } else {
                assertEquals(Set.of(0x830, 0x870), found(copied));
            }
        }
    }

    /** A word that stands between in a general register is not followed over the end of a block, either. */
    @Test
    void anExchangeOverBlocks() throws MachineCodeException {
        for (boolean ends : new boolean[] {false, true}) {
            CodeWords code = exclusiveOr(load(new CodeWords(), 4, PARAMETERS), 6, 4, 5);
            code.add(0x0000000000007c02L | 9L << 16 | 6L << 32, CONTROL | 0x08000f00L); // MOV R9, UR6
            if (ends) {
                code.branch(4);
            } else {
                code.nothing();
            }
            CodeWords copied = tensorLoad(copy(exclusiveOr(code.toUniform(8, 9), 8, 8, 5), 9, 5), 8);
            if (ends) {
                assertEquals(UNSEEN + "70", refused(copied));
            } else {
                assertEquals(Set.of(0), found(copied));
            }
        }
    }

    /** Where the predicate does not hold, threads continue at the place that an earlier {@code BSSY} named. */
    @Test
    void aMeetingUnderAPredicate() throws MachineCodeException {
        for (boolean under : new boolean[] {false, true}) {
            CodeWords code = load(new CodeWords().meeting(0, 7), 4, PARAMETERS).branch(7).under(1).toUniform(4, 2).meeting(0, 8);
            if (under) {
                code.under(0);
            }
            code.meet(0).exit();
            tensorLoad(code, 4).exit();
            if (under) {
                assertEquals(UNSEEN + "70", refused(code));
            } else {
                assertEquals(Set.of(0), found(code));
            }
        }
    }

    /** A loader may write another number, or another place of the bank. */
    @Test
    void whatALoaderWritesIsNotKnown() throws MachineCodeException {
        CodeWords code = tensorLoad(addWide(load(new CodeWords().moveUniform(10, 0).moveUniform(11, 0), 4, PARAMETERS), 20, 4, 10), 20).exit();
        assertEquals(Set.of(0), TensorMapAddresses.find(code.flow(), Set.of(), true).single());
        for (long offset : new long[] {0, 0x10, 0x20}) {
            assertEquals(UNSEEN + "40",
                    assertThrows(MachineCodeException.class, () -> TensorMapAddresses.find(code.flow(), Set.of(offset), true)).getMessage());
        }
    }

    @Test
    void exchangedByExclusiveOr() throws MachineCodeException {
        CodeWords code = copy(copy(addCarry(sum(0, 0x30), 21, 5, 0), 31, 20), 30, 21);
        for (int to : new int[] {31, 30, 31}) {
            code.add(0x292L | ALWAYS | (long) to << 16 | 31L << 24 | 30L << 32, CONTROL | 0x0f8e3c3fL);
        }
        assertEquals(Set.of(0x30), found(tensorLoad(code, 30)));
        CodeWords twice = copy(copy(addCarry(sum(0, 0x30), 21, 5, 0), 31, 20), 30, 21);
        for (int to : new int[] {31, 30}) {
            twice.add(0x292L | ALWAYS | (long) to << 16 | 31L << 24 | 30L << 32, CONTROL | 0x0f8e3c3fL);
        }
        assertEquals(UNSEEN + "70", refused(tensorLoad(twice, 30)), "the high word is both words");
    }

    /** A division behind the kernel: what it does not write is kept. */
    @Test
    void aCallOfAFunctionInTheSectionKeepsWhatItDoesNotWrite() throws MachineCodeException {
        assertEquals(Set.of(0), found(called(new CodeWords().sum(2, 3, 4))));
        assertEquals(UNSEEN + "40", refused(called(new CodeWords().sum(9, 3, 4))));
        assertEquals(UNSEEN + "40", refused(called(new CodeWords().toUniform(21, 4).callSymbol())));
    }

    private static CodeWords called(CodeWords function) throws MachineCodeException {
        CodeWords code = copyBy(loadGeneral(new CodeWords(), 8).call(6), 8).exit();
        SectionFlow body = function.exit().flow();
        for (int i = 0; i < body.count() - 1; i++) {
            code.add(body.low(i), body.high(i));
        }
        return code.returnBy(30);
    }

    @Test
    void registersBelowTheNewCountAreKept() throws MachineCodeException {
        assertEquals(Set.of(0), found(copyBy(loadGeneral(new CodeWords(), 8).add(0x00000028000079c8L, 0x000fe400080e0500L), 8)));
        assertEquals(UNSEEN + "40", refused(copyBy(loadGeneral(new CodeWords(), 8).add(0x00000008000079c8L, 0x000fe400080e0500L), 8)));
    }

    /** As in kernels of cuDNN for attention: {@code WARPSYNC.ALL}, and {@code WARPSYNC.COLLECTIVE} with a {@code SHFL}. */
    @Test
    void whatThreadsDoTogetherKeepsWhatIsKnownIfItWritesNoUniformRegister() throws MachineCodeException {
        assertEquals(Set.of(0), found(tensorLoad(load(new CodeWords(), 4, PARAMETERS).add(0x7948, 0x000fea0003800000L), 4)));
        assertEquals(Set.of(0), found(tensorLoad(together(load(new CodeWords(), 4, PARAMETERS), new CodeWords().sum(21, 23, 24)), 4)));
        assertEquals(UNSEEN + "50", refused(tensorLoad(together(load(new CodeWords(), 4, PARAMETERS), new CodeWords().toUniform(4, 2)), 4)));
        assertEquals(UNSEEN + "50", refused(tensorLoad(together(load(new CodeWords(), 4, PARAMETERS), new CodeWords().toUniform(9, 2)), 4)));
    }

    /** {@code WARPSYNC.COLLECTIVE R22}, an instruction, {@code ENDCOLLECTIVE}, and {@code NOP} where threads go on. */
    private static CodeWords together(CodeWords code, CodeWords instruction) throws MachineCodeException {
        SectionFlow one = instruction.exit().flow();
        return code.add(0x16087348L, 0x000fea0003c00000L).add(one.low(0), one.high(0)).add(0x791bL, 0x000fea0003800000L).nothing();
    }

    @Test
    void aFunctionHasNoParametersOfItsOwn() {
        CodeWords code = tensorLoad(load(new CodeWords(), 4, PARAMETERS), 4).exit();
        assertEquals(UNSEEN + "10",
                assertThrows(MachineCodeException.class, () -> TensorMapAddresses.find(code.flow(), Set.of(), false)).getMessage());
    }
}
