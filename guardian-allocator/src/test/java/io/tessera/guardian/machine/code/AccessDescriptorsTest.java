package io.tessera.guardian.machine.code;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.machine.CodeWords;
import io.tessera.guardian.machine.MachineCodeException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A descriptor is the driver's where nothing else may be in its registers, on whatever way a thread of the warp came. */
class AccessDescriptorsTest {
    /** {@code ULDC UR6, c[0x0][UR4+0x208]}, of 32 bits: a constant by an index. */
    private static final long LOAD_BY_INDEX = 0x0000820004067abbL;
    private static final long LOAD_BY_INDEX_HIGH = 0x000fe20008000800L;

    private static CodeWords start() {
        return new CodeWords().loadDescriptor(4);
    }

    /** Returns whether the only access with a descriptor has the driver's. */
    private static boolean isDrivers(CodeWords code, int... entered) throws MachineCodeException {
        return isDrivers(code.flow(entered), true);
    }

    private static boolean isDrivers(SectionFlow flow, boolean kernel) {
        int access = -1;
        for (int i = 0; i < flow.count(); i++) {
            if (AccessDescriptors.has(flow, i)) {
                assertEquals(-1, access, "one access");
                access = i;
            }
        }
        return new AccessDescriptors(flow, kernel).isDrivers(access);
    }

    private static CodeWords access(CodeWords code) {
        return code.loadByDescriptor(0, 2, 4).exit();
    }

    @ParameterizedTest
    @EnumSource(Architecture.class)
    void itIsLoadedFromWhereTheDriverKeepsIt(Architecture architecture) throws MachineCodeException {
        int place = architecture.descriptorInBank();
        assertTrue(isDrivers(access(new CodeWords(architecture).loadConstant(4, place, 5))));
        for (int other : new int[] {0x0, 0x18, 0x28, 0xc0, 0x118, 0x198, 0x208, 0x210, 0x218}) {
            assertEquals(other == place, isDrivers(access(new CodeWords(architecture).loadConstant(4, other, 5))),
                    "c[0x0][0x" + Integer.toHexString(other) + "]");
        }
        assertFalse(isDrivers(access(new CodeWords(architecture).loadConstant(4, place | 1 << 16, 5))), "constant bank 1");
        assertFalse(isDrivers(access(new CodeWords(architecture).loadConstant(4, place, 4).loadConstant(5, place + 4, 4))), "in halves");
    }

    @Test
    void anAccessWithoutADescriptorHasNone() throws MachineCodeException {
        SectionFlow flow = new CodeWords().load(0, 2).loadBySum(0, 2, 4).loadByBase(0, 2, 4).store(2, 0).compareAndSwap(0, 2, 4, 5).nothing().exit()
                .flow();
        for (int i = 0; i < flow.count(); i++) {
            assertFalse(AccessDescriptors.has(flow, i));
        }
        assertTrue(AccessDescriptors.has(new CodeWords().storeByDescriptor(2, 0, 4).exit().flow(), 0));
    }

    @Test
    void whatWasNeverLoadedIsOfTheKernelBefore() throws MachineCodeException {
        assertFalse(isDrivers(access(new CodeWords())));
        assertFalse(isDrivers(new CodeWords().loadByDescriptor(0, 2, 4).loadDescriptor(4).exit()), "loaded behind the access");
        assertFalse(isDrivers(access(new CodeWords().loadDescriptor(6))), "another pair");
        assertFalse(isDrivers(new CodeWords().loadDescriptor(4).loadByDescriptor(0, 2, 5).exit()), "half of it");
        assertFalse(isDrivers(new CodeWords().loadDescriptor(62).loadByDescriptor(0, 2, 62).exit()), "the other half is zero");
        assertFalse(isDrivers(new CodeWords().loadDescriptor(5).loadByDescriptor(0, 2, 5).exit()), "no pair");
        assertFalse(isDrivers(access(start().under(0))), "perhaps not loaded");
    }

    /** The instruction may come at any place, and under any predicate: another thread of the warp can execute it between the load and the access. */
    @Test
    void dataInAPairOrInHalfOfIt() throws MachineCodeException {
        for (int uniform : new int[] {3, 4, 5, 6}) {
            boolean apart = uniform == 3 || uniform == 6;
            assertEquals(apart, isDrivers(access(start().toUniform(uniform, 7))), "R2UR");
            assertEquals(apart, isDrivers(access(start().toUniform(uniform, 7).under(1))), "R2UR under a predicate");
            assertEquals(apart, isDrivers(access(new CodeWords().toUniform(uniform, 7).loadDescriptor(4))), "R2UR before it");
            assertEquals(apart, isDrivers(start().loadByDescriptor(0, 2, 4).toUniform(uniform, 7).exit()), "R2UR behind the access");
            assertEquals(apart, isDrivers(access(start().differenceUniform(uniform, 1, 8))), "UIADD3");
            assertEquals(apart, isDrivers(access(start().logicUniform(uniform, 8, 1, 0xc0))), "ULOP3");
            assertEquals(apart, isDrivers(access(start().moveUniform(uniform, 1))), "UMOV");
            assertEquals(apart, isDrivers(access(start().loadConstant(uniform, 0x210, 4))), "ULDC of 32 bits");
        }
        assertTrue(isDrivers(access(start().loadConstant(6, 0x210, 5))));
        assertFalse(isDrivers(access(start().loadConstant(3, 0x210, 5))), "ULDC of 64 bits");
        assertFalse(isDrivers(access(start().add(LOAD_BY_INDEX & ~(0x3fL << 16) | 5L << 16, LOAD_BY_INDEX_HIGH))), "ULDC by an index");
        assertTrue(isDrivers(access(start().add(LOAD_BY_INDEX, LOAD_BY_INDEX_HIGH))));
        assertTrue(isDrivers(access(start().loadDescriptor(4))), "the same once more");
        assertFalse(isDrivers(access(new CodeWords().loadConstant(4, 0x210, 5).loadDescriptor(4))),
                "a constant before it: threads may have parted without a branch");
    }

    @Test
    void waysThatMeet() throws MachineCodeException {
        assertTrue(isDrivers(access(start().branch(3).under(0).nothing())), "loaded before they part");
        assertFalse(isDrivers(access(new CodeWords().branch(2).under(0).loadDescriptor(4))), "loaded on one of two ways");
        assertFalse(isDrivers(access(start().branch(3).under(0).toUniform(5, 7))), "changed on one of two ways");
        assertTrue(isDrivers(access(new CodeWords().nothing().exit().under(0).loadDescriptor(4))),
                "a thread that does not come to the load has ended");
        assertFalse(isDrivers(access(new CodeWords().exit().loadDescriptor(4))), "nobody comes to the load");
    }

    @Test
    void loops() throws MachineCodeException {
        assertTrue(isDrivers(start().loadByDescriptor(0, 2, 4).branch(1).under(0).exit()));
        assertTrue(isDrivers(start().loadByDescriptor(0, 2, 4).branch(0).under(0).exit()), "the load is in the loop, too");
        assertFalse(isDrivers(start().loadByDescriptor(0, 2, 4).differenceUniform(4, 1, 4).branch(1).under(0).exit()));
    }

    @Test
    void placesThatAreEnteredFromElsewhere() throws MachineCodeException {
        CodeWords code = start().nothing().loadDescriptor(6).loadByDescriptor(0, 2, 6).exit();
        assertTrue(isDrivers(code));
        assertFalse(isDrivers(code, 1), "the second load is no more at the start");
    }

    @Test
    void codeThatOthersCallOrThatCallsOthers() throws MachineCodeException {
        assertFalse(isDrivers(access(start()).flow(), false), "a function");
        assertFalse(isDrivers(access(start().callSymbol())));
        assertFalse(isDrivers(access(start()).callSymbol().exit()));
        assertTrue(isDrivers(start().call(4).loadByDescriptor(0, 2, 4).exit().nothing().returnBy(20)), "a function of the section");
        assertFalse(isDrivers(start().call(4).loadByDescriptor(0, 2, 4).exit().toUniform(4, 7).returnBy(20)));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 8})
    void anAccessThatComesTooSoon(int cycles) throws MachineCodeException {
        assertEquals(cycles >= 2, isDrivers(access(start().stalling(cycles))));
        assertEquals(cycles >= 1, isDrivers(access(start().stalling(cycles).nothing().stalling(1))));
    }
}
