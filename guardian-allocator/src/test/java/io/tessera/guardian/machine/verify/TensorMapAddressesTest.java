package io.tessera.guardian.machine.verify;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.machine.CodeWords;
import io.tessera.guardian.machine.MachineCodeException;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Which code is seen to copy by tensor maps in its parameters, with the words that ptxas writes for sm_90. */
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
        return TensorMapAddresses.find(code.exit().flow(entered), true);
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

    /** As kernels of cuBLAS do it: the parameters begin at 0x210 of their bank. */
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
    void underAPredicateTheOldValueCounts() {
        CodeWords code = load(new CodeWords().toUniform(4, 2), 4, PARAMETERS).under(0);
        assertEquals(UNSEEN + "20", refused(tensorLoad(code, 4)));
    }

    @Test
    void nothingIsKnownBehindACallOrWhereOthersEnter() {
        assertEquals(UNSEEN + "20", refused(tensorLoad(load(new CodeWords(), 4, PARAMETERS).callSymbol(), 4)));
        assertEquals(UNSEEN + "10", refused(tensorLoad(load(new CodeWords(), 4, PARAMETERS), 4), 1));
    }

    @Test
    void aFunctionHasNoParametersOfItsOwn() {
        CodeWords code = tensorLoad(load(new CodeWords(), 4, PARAMETERS), 4).exit();
        assertEquals(UNSEEN + "10", assertThrows(MachineCodeException.class, () -> TensorMapAddresses.find(code.flow(), false)).getMessage());
    }
}
