package io.tessera.guardian.machine.align;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.machine.CodeWords;
import io.tessera.guardian.machine.MachineCodeException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Addresses are changed where it is not seen that they are aligned, and by no more than an aligned one has. Words are those that ptxas writes, named as nvdisasm does. */
class AlignmentPlanTest {
    private static final long LDC_PARAMETER = 0x00008400ff027b82L; // LDC.64 R2, c[0x0][0x210]
    private static final long LDC_PARAMETER_HIGH = 0x000ea40000000a00L;

    private static CodeWords parameter() {
        return new CodeWords().add(LDC_PARAMETER, LDC_PARAMETER_HIGH);
    }

    private static void assertPlan(CodeWords code, int at, AlignmentPlan.Change... expected) throws MachineCodeException {
        assertEquals(List.of(expected), AlignmentPlan.of(code.exit().flow()).before(at));
    }

    private static AlignmentPlan.Change clear(int register, int bits) {
        return new AlignmentPlan.Change(register, bits, 0);
    }

    @Test
    void aPointerOfWhichNothingIsKnownIsRoundedDown() throws MachineCodeException {
        assertPlan(parameter().load(4, 2), 1, clear(2, 3));
        assertPlan(parameter().loadPair(4, 2), 1, clear(2, 7));
    }

    @Test
    void whatWasRoundedOnceIsKnownAlsoAfterAlignedSteps() throws MachineCodeException {
        CodeWords code = parameter().loadPair(4, 2).add(0x0000001002027836L, 0x000fe40000000000L).loadPair(6, 2); // VIADD R2, R2, 0x10
        assertPlan(code, 3);
        CodeWords odd = parameter().loadPair(4, 2).add(0x0000001202027836L, 0x000fe40000000000L).loadPair(6, 2);
        assertPlan(odd, 3, clear(2, 7));
    }

    @Test
    void aLoopThatStepsByAMultipleIsKnownToo() throws MachineCodeException {
        CodeWords code = parameter().move(2, 64).loadPair(4, 2).add(0x0000001002027836L, 0x000fe40000000000L).branch(2);
        assertTrue(AlignmentPlan.of(code.exit().flow()).isEmpty());
        CodeWords odd = parameter().move(2, 64).loadPair(4, 2).add(0x0000000402027836L, 0x000fe40000000000L).branch(2);
        assertPlan(odd, 2, clear(2, 7));
    }

    @Test
    void aRegisterIsLeftWithTheBitsThatTheSumNeeds() throws MachineCodeException {
        CodeWords code = parameter().add(0x0000040402047981L, 0x000ea2000c1e1d00L); // LDG.E.128 R4, desc[UR4][R2.64+0x4]
        assertPlan(code, 1, new AlignmentPlan.Change(2, 3, 12));
    }

    /** A constant address that is wrong is rounded, and what is rounded is known by what it became, not by what it was. */
    @Test
    void aRegisterIsKnownByWhatItBecame() throws MachineCodeException {
        CodeWords code = new CodeWords().move(2, 4).add(0x0000000402087981L, 0x000ea2000c1e1d00L) // LDG.E.128 R8, desc[UR4][R2.64]
                .add(0x00000c0402087981L, 0x000ea2000c1e1d00L); // LDG.E.128 R8, desc[UR4][R2.64+0xc]
        assertPlan(code, 1, clear(2, 15));
        assertPlan(code, 2, new AlignmentPlan.Change(2, 11, 4));
    }

    @Test
    void underAPredicateAnAddressIsKnownWhereItHolds() throws MachineCodeException {
        CodeWords code = parameter().load(4, 2).under(1).load(6, 2).under(1).load(8, 2).compare(1, 4, 6).load(10, 2).under(1);
        assertPlan(code, 1, clear(2, 3));
        assertPlan(code, 2);
        assertPlan(code, 3, clear(2, 3));
        assertPlan(code, 5);
        CodeWords changed = parameter().load(4, 2).under(1).compare(1, 4, 6).load(6, 2).under(1);
        assertPlan(changed, 3, clear(2, 3));
        CodeWords other = parameter().load(4, 2).under(1).load(6, 2).under(9);
        assertPlan(other, 2, clear(2, 3));
    }

    @Test
    void onlyWhatHoldsOnAllWaysIsKnown() throws MachineCodeException {
        CodeWords code = parameter().compare(1, 4, 6).branch(4).under(1).load(4, 2).load(6, 2);
        assertPlan(code, 4, clear(2, 3));
        CodeWords both = parameter().load(4, 2).compare(1, 4, 6).branch(4).under(1).load(6, 2);
        assertPlan(both, 4);
    }

    @Test
    void whereAFunctionIsEnteredNothingIsKnownButTheStack() throws MachineCodeException {
        CodeWords code = new CodeWords().move(2, 0).load(4, 2).add(0x0000100001027983L, 0x000ea20000100800L); // LDL R2, [R1+0x10]
        assertTrue(AlignmentPlan.of(code.exit().flow()).isEmpty());
        AlignmentPlan entered = AlignmentPlan.of(code.flow(1));
        assertEquals(List.of(clear(2, 3)), entered.before(1));
        assertEquals(List.of(), entered.before(2));
    }

    /** The words of an instruction that computes R2, what is known of it, and what the access of 16 bytes by it gets. */
    @ParameterizedTest
    @CsvSource({"'SHF.L.U32 R2, R5, 0x4, RZ', 0000000405027819, 000fe200000006ff, 0",
            "'SHF.L.U32 R2, R5, 0x3, RZ', 0000000305027819, 000fe200000006ff, 15",
            "'SHF.L.U32 R2, R5, R4, RZ', 0000000405027219, 000fe200000006ff, 15",
            "'SHF.R.U32.HI R2, RZ, 0x4, R5', 00000004ff027819, 000fe20000011605, 15",
            "'LEA R2, R5, RZ, 0x4', 000000ff05027211, 000fe200078e20ff, 0", "'LEA R2, -R5, RZ, 0x4', 000000ff05027211, 000fe200078e21ff, 0",
            "'LEA R2, R5, R4, 0x4', 0000000405027211, 000fe200078e20ff, 15", "'LEA.HI R2, R5, RZ, RZ, 0x4', 000000ff05027211, 000fe200078f20ff, 15",
            "'IMAD R2, R5, 0x30, RZ', 0000003005027824, 000fe200078e02ff, 0", "'IMAD R2, R5, 0x30, -RZ', 0000003005027824, 000fe200078e0aff, 0",
            "'IMAD R2, R5, 0x9, RZ', 0000000905027824, 000fe200078e02ff, 15", "'IMAD R2, R5, RZ, 0x40', 0000004005027424, 000fe200078e02ff, 0",
            "'IMAD.X R2, R5, 0x30, RZ, P0', 0000003005027824, 000fe200000e06ff, 15",
            "'IMAD.WIDE R2, R5, 0x20, RZ', 0000002005027825, 000fe200078e02ff, 0",
            "'IMAD R2, R5, R4, UR63', 0000003f05027e24, 000fe2000f8e0204, 15", "'MOV R2, 0x40', 0000004000027802, 000fe20000000f00, 0",
            "'MOV R2, 0x48', 0000004800027802, 000fe20000000f00, 15", "'MOV R2, R5', 0000000500027202, 000fe20000000f00, 15",
            "'LOP3.LUT R2, R5, 0xfffffff0, RZ, 0xc0', fffffff005027812, 000fe200078ec0ff, 0",
            "'LOP3.LUT R2, R5, 0xfffffff0, RZ, 0xfc', fffffff005027812, 000fe200078efcff, 15",
            "'VIADD.16x2 R2, RZ, 0x10', 00000010ff027836, 000fe40000000200, 15",
            "'VIADD R2, RZ, 0x10', 00000010ff027836, 000fe40000000000, 0", "'SEL R2, RZ, 0x20, P0', 00000020ff027807, 000fe40000000000, 0",
            "'SEL R2, R5, 0x20, P0', 0000002005027807, 000fe40000000000, 15", "'IADD3 R2, RZ, 0x20, RZ', 00000020ff027810, 000fe20007ffe0ff, 0",
            "'IADD3.X R2, RZ, 0x20, RZ, P0', 00000020ff027810, 000fe200007fe4ff, 15",
            "'PRMT R2, RZ, 0x4210, R5', 00004210ff027816, 000fe20000000005, 0",
            "'PRMT R2, RZ, 0x3214, R5', 00003214ff027816, 000fe20000000005, 15", "'VIMNMX R2, RZ, 0x10, PT', 00000010ff027848, 000fe20003fe0100, 0",
            "'LDC R2, c[0x0][0x28]', 00000a00ff027b82, 000f620000000800, 0", "'LDC R2, c[0x0][0x210]', 00008400ff027b82, 000f620000000800, 15"})
    void whatArithmeticLeavesOfLowBitsIsKnown(String name, String low, String high, int cleared) throws MachineCodeException {
        CodeWords code = new CodeWords().add(Long.parseUnsignedLong(low, 16), Long.parseUnsignedLong(high, 16))
                .add(0x0000000002087981L, 0x000ea2000c1e1d00L); // LDG.E.128 R8, desc[UR0][R2.64]
        List<AlignmentPlan.Change> changes = AlignmentPlan.of(code.exit().flow()).before(1);
        assertEquals(cleared == 0 ? List.of() : List.of(clear(2, cleared)), changes, name);
    }

    /** The words of an access, the register that it takes its address from, and how wide it is. */
    @ParameterizedTest
    @CsvSource({"LDS, 0002100035047984, 000e220000000800, 53, 4", "LDS.128, 000000002018c984, 000fe20000000c00, 32, 16",
            "LDS.U8, 004fb00008007984, 020e680000000000, 8, 1",
            "STS.64, 0006600c0c007388, 0043e80000000a00, 12, 8", "STS.U16, 0000000607007388, 0041e60000000400, 7, 2",
            "LDL.64, 0000000009027983, 0000a20000100a00, 9, 8",
            "STL.128, 0000000409007387, 0011e20000100c00, 9, 16", "LDSM, 001100001008783b, 0007220000000200, 16, 16",
            "STSM, 0000002060007844, 000fe80000000200, 96, 16",
            "ATOMS, 000000070007738c, 010ee80000000000, 0, 4", "ATOMS.CAS.64, 0000000c0904738d, 000e24000000040e, 9, 8",
            "ATOMG.ADD, 00000005020379a8, 008ea200081ee1d6, 2, 4", "ATOMG.ADD.64, 00006004161079a8, 00056200081ee5c4, 22, 8",
            "ATOM.ADD.F16x2, 0000000814ff79a2, 0003e2000814e1d8, 20, 4", "REDG.F32, 0000001b0a0079a6, 0001e2000c10f388, 10, 4",
            "REDG.F32x4, 0000001b0a0079a6, 0001e2000c10f788, 10, 16", "REDG.F64, 0000001b0a0079a6, 0001e2000c10ff88, 10, 8",
            "STG.U8, 000003080a007986, 0041e2000c101106, 10, 1", "ST.64, 0000080844007385, 0101e40000100b04, 68, 8"})
    void eachAccessNeedsItsWidth(String name, String low, String high, int register, int width) throws MachineCodeException {
        CodeWords code = new CodeWords().add(Long.parseUnsignedLong(low, 16) & ~0xf000L | 0x7000L, Long.parseUnsignedLong(high, 16)).exit();
        List<AlignmentPlan.Change> changes = AlignmentPlan.of(code.flow()).before(0);
        assertEquals(width == 1 ? List.of() : List.of(register), changes.stream().map(AlignmentPlan.Change::register).toList(), name);
        changes.forEach(change -> assertEquals(width - 1, change.cleared() | change.set(), name));
        assertEquals(width == 1, AlignmentVerifier.misaligned(code.flow()) == null, name);
    }

    @Test
    void aCopyToSharedMemoryHasTwoAddresses() throws MachineCodeException {
        CodeWords code = new CodeWords().add(0x00100000040a7faeL, 0x0007e2000a101d5eL); // LDGSTS.E.BYPASS.LTC128B.128 [R10+0x100], desc[UR30][R4.64]
        assertPlan(code, 0, clear(4, 15), clear(10, 15));
    }

    /** {@code LD.E.64 R8, [R68+0x4]}: 32 bits for the number. */
    @Test
    void genericAccessesWithoutAUniformRegisterHaveWideNumbers() throws MachineCodeException {
        assertPlan(new CodeWords().add(0x0000000444087980L, 0x020ea40000100b00L), 0, new AlignmentPlan.Change(68, 3, 4));
    }

    @Test
    void whatIsAddedInAUniformRegisterCounts() throws MachineCodeException {
        long lds = 0x0000001087187984L; // LDS.128 R24, [R135+UR16]
        assertPlan(new CodeWords().moveUniform(16, 0x400).add(lds, 0x000e640008000c00L), 1, clear(135, 15));
        assertPlan(new CodeWords().moveUniform(16, 0x404).add(lds, 0x000e640008000c00L), 1, new AlignmentPlan.Change(135, 3, 12));
        CodeWords unknown = new CodeWords().toUniform(16, 3).add(lds, 0x000e640008000c00L);
        assertPlan(unknown, 1);
        assertNotNull(AlignmentVerifier.misaligned(unknown.flow()), "nothing is known of R3");
        CodeWords absolute = new CodeWords().moveUniform(16, 0x404).add(0x00000010ff187984L, 0x000e640008000c00L).exit();
        assertEquals("a LDS whose address is not seen to be a multiple of 16 at offset 0x10", AlignmentVerifier.misaligned(absolute.flow()));
    }

    /** Fenced code writes its base into uniform registers at its start alone, and functions of the section take it from there. */
    @Test
    void uniformRegistersWithOneNumberHaveItWhereverASectionIsEntered() throws MachineCodeException {
        CodeWords code = new CodeWords().moveUniform(58, 0).exit().move(2, 8).loadByBase(0, 2, 58).exit();
        assertNull(AlignmentVerifier.misaligned(code.flow(2)));
        CodeWords two = new CodeWords().moveUniform(58, 0).moveUniform(58, 4).exit().move(2, 8).loadByBase(0, 2, 58).exit();
        assertNotNull(AlignmentVerifier.misaligned(two.flow(3)));
    }

    /** Rounding addresses of mbarriers makes kernels fail. */
    @Test
    void addressesOfBarriersAreOnlyLookedAt() throws MachineCodeException {
        CodeWords code = new CodeWords().add(0x000048ff78ff79a7L, 0x0005e2000810003fL).exit(); // SYNCS.ARRIVE.TRANS64.A1T0 RZ, [R120+URZ+0x48], RZ
        assertTrue(AlignmentPlan.of(code.flow()).isEmpty());
        assertEquals("a SYNCS whose address is not seen to be a multiple of 8 at offset 0x0", AlignmentVerifier.misaligned(code.flow()));
        CodeWords known = new CodeWords().move(120, 64).add(0x000048ff78ff79a7L, 0x0005e2000810003fL).exit();
        assertNull(AlignmentVerifier.misaligned(known.flow()));
    }

    @Test
    void whatIsNotUnderstoodIsNamed() throws MachineCodeException {
        CodeWords code = new CodeWords().add(0x0000100308007dbdL, 0x000be4000c00083fL).exit(); // STAS [R8.64+0x10], R3
        assertTrue(AlignmentPlan.of(code.flow()).isEmpty());
        assertEquals("a STAS, whose alignment is not known at offset 0x0", AlignmentVerifier.misaligned(code.flow()));
    }
}
