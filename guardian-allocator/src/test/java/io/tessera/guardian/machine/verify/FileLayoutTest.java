package io.tessera.guardian.machine.verify;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.machine.VerifiedCubin;
import io.tessera.guardian.machine.CodeWords;
import io.tessera.guardian.machine.CubinBuilder;
import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.MachineFences;
import io.tessera.guardian.machine.container.Cubin;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Cubins that a driver might read otherwise than the verifier, and branch tables that are not what the attributes say. The same cubin without the fault is accepted. */
class FileLayoutTest {
    private static final int BASE = 40;
    private static final String NOT_LOADED = "a branch whose target is not loaded beside it";

    private static CodeWords fenced() {
        return new CodeWords().move(BASE, MachineFences.MASK.baseHigh()).logic(3, 3, MachineFences.MASK.mask(), BASE, 0xea).load(12, 2).exit();
    }

    private static byte[] good() {
        return CubinBuilder.of("k", fenced()).attribute("k", 0x1c, 0x30).section(".nv.constant0.k", 1, 2, new byte[64]).build();
    }

    private static VerifiedCubin examine(byte[] cubin) throws MachineCodeException {
        return CubinVerifier.inspect(cubin, MachineFences.MASK);
    }

    private static String refusal(byte[] cubin) {
        return assertThrows(MachineCodeException.class, () -> examine(cubin)).getMessage();
    }

    private static int section(byte[] cubin, String name) throws MachineCodeException {
        return (int) ByteBuffer.wrap(cubin).order(ByteOrder.LITTLE_ENDIAN).getLong(0x28) + 64 * Cubin.read(cubin).section(name).index();
    }

    private static int segment(byte[] cubin, int number) {
        return (int) ByteBuffer.wrap(cubin).order(ByteOrder.LITTLE_ENDIAN).getLong(0x20) + 56 * number;
    }

    private static ByteBuffer words(byte[] cubin) {
        return ByteBuffer.wrap(cubin).order(ByteOrder.LITTLE_ENDIAN);
    }

    @Test
    void theCubinItselfIsShown() throws MachineCodeException {
        assertTrue(examine(good()).isShown(), examine(good()).toString());
    }

    @Test
    void aTypeThatIsNotKnown() throws MachineCodeException {
        byte[] cubin = good();
        words(cubin).putInt(section(cubin, ".nv.constant0.k") + 4, 0x60000001);
        assertTrue(refusal(cubin).contains("of a type that is not known"));
    }

    @Test
    void constantsThatCanBeWrittenOrHaveAnAddress() throws MachineCodeException {
        byte[] writable = good();
        words(writable).putLong(section(writable, ".nv.constant0.k") + 8, 3);
        assertTrue(refusal(writable).contains("can be written"));
        byte[] placed = good();
        words(placed).putLong(section(placed, ".text.k") + 16, 0x1000);
        assertTrue(refusal(placed).contains("has an address of its own"));
    }

    @Test
    void codeThatIsAlsoAnotherSection() throws MachineCodeException {
        byte[] cubin = good();
        long code = words(cubin).getLong(section(cubin, ".text.k") + 24);
        words(cubin).putLong(section(cubin, ".nv.constant0.k") + 24, code);
        assertTrue(refusal(cubin).contains("overlap"));
    }

    @Test
    void segmentsThatShowTheCodeTwiceOrInPart() throws MachineCodeException {
        byte[] twice = good();
        System.arraycopy(twice, segment(twice, 1), twice, segment(twice, 0), 56);
        assertTrue(refusal(twice).contains("segments that overlap"));
        byte[] part = good();
        int at = segment(part, 1);
        words(part).putLong(at + 32, words(part).getLong(at + 32) - 16).putLong(at + 40, words(part).getLong(at + 40) - 16);
        assertTrue(refusal(part).contains("not in one segment"));
        byte[] placed = good();
        words(placed).putLong(segment(placed, 1) + 16, 0x1000);
        assertTrue(refusal(placed).contains("ask for an address"));
    }

    @Test
    void attributesOfAnotherFunction() throws MachineCodeException {
        byte[] cubin = good();
        words(cubin).putInt(section(cubin, ".nv.info.k") + 44, 1);
        assertEquals("section .nv.info.k is another function's", refusal(cubin));
    }

    @Test
    void aKernelThatIsNotInItsSectionOrEndsBehindIt() {
        assertTrue(refusal(CubinBuilder.of("k", fenced()).symbol("other", "k", 0, 16, true).build()).startsWith("kernel other is in section"));
        assertTrue(refusal(CubinBuilder.of("k", fenced()).symbol("inner", "k", 0x30, 0x20, false).build()).contains("ends behind its section"));
    }

    /** A relocation writes the address of the access into the constants of the program, which may call it. */
    @Test
    void anAddressBehindTheStartOfAFunction() throws MachineCodeException {
        CubinBuilder builder = CubinBuilder.of("k", fenced());
        assertEquals(Map.of(), examine(builder.build()).refused());
        CodeWords moves = new CodeWords().move(4, 0x10).exit();
        CubinBuilder entered = CubinBuilder.of("k", fenced()).kernel("l", 29, moves).relocation("l", 0, 0x38, 1, 0x20);
        assertTrue(examine(entered.build()).refused().get("k").contains("another section may enter behind the start"),
                examine(entered.build()).toString());
        CubinBuilder start = CubinBuilder.of("k", fenced()).kernel("l", 29, moves).relocation("l", 0, 0x38, 1, 0);
        assertEquals(Map.of(), examine(start.build()).refused());
    }

    /** {@code LDC R4, c[0x2][R4]}, from an offset of the bank, which releases scoreboard 1. */
    private static CodeWords loads(int offset) {
        return new CodeWords().add(0x0080000004047b82L | (long) offset << 38, 0x000e620000000800L);
    }

    /** {@code SHF.R.S32.HI R5, RZ, 0x1f, R4}: the upper half of where a branch goes. */
    private static CodeWords extended(CodeWords code) {
        return code.add(0x0000001fff057819L, 0x000fc80000011404L).waiting(2);
    }

    private static CodeWords branches(int offset) {
        return extended(loads(offset)).branchByTable(4).exit().exit();
    }

    private static CubinBuilder table(int offset, int... bank) {
        return CubinBuilder.of("k", branches(offset)).attribute("k", 0x34, 0x20, 0, 2, 0x30, 0x40).tables("k", bank);
    }

    @Test
    void aBranchTableIsTheOneOfTheAttributes() throws MachineCodeException {
        assertTrue(examine(table(0, 0x30, 0x40).build()).isShown(), examine(table(0, 0x30, 0x40).build()).toString());
        assertTrue(examine(table(8, 0x40, 0x30, 0x30, 0x40).build()).isShown());
        Map<String, String> other = Map.of("k", "a branch whose table is not in its bank at offset 0x20");
        assertEquals(other, examine(table(0, 0x30, 0x20).build()).refused());
        assertEquals("an index into a branch table", examine(table(0, 0x20, 0x30, 0x40).build()).trusted().get("k"), "there is another table, too");
        assertEquals("an index into a branch table", examine(table(0, 0x30, 0x40, 0x12345).build()).trusted().get("k"));
        CubinBuilder computed = CubinBuilder.of("k", new CodeWords().nothing().branchByTable(4).exit().exit())
                .attribute("k", 0x34, 0x10, 0, 2, 0x20, 0x30)
                .tables("k", 0x20, 0x30);
        assertEquals(NOT_LOADED, examine(computed.build()).trusted().get("k"));
    }

    private static String trustInBranch(CodeWords code) throws MachineCodeException {
        int branch = 16 * (code.count() - 3);
        CubinBuilder cubin = CubinBuilder.of("k", code).attribute("k", 0x34, branch, 0, 2, branch + 16, branch + 32).tables("k", branch + 16,
                branch + 32);
        assertEquals(Map.of(), examine(cubin.build()).refused());
        return examine(cubin.build()).trusted().get("k");
    }

    private static CodeWords ended(CodeWords code) {
        return code.branchByTable(4).exit().exit();
    }

    /** A branch takes 64 bits from two registers, which must be a word of the bank, whole and in time. */
    @Test
    void aBranchByAnythingButAWordOfItsBank() throws MachineCodeException {
        assertNull(trustInBranch(ended(extended(loads(0)))));
        assertEquals(NOT_LOADED, trustInBranch(ended(loads(0).nothing().waiting(2))), "the upper half may be anything");
        assertEquals(NOT_LOADED, trustInBranch(ended(extended(loads(0)).move(5, 1))));
        assertEquals(NOT_LOADED, trustInBranch(ended(extended(loads(0)).move(4, 0x40))));
        assertEquals(NOT_LOADED, trustInBranch(ended(extended(loads(0).under(1)))), "a load that may not be executed");
        assertEquals(NOT_LOADED, trustInBranch(ended(extended(loads(0)).under(1))));
        assertEquals(NOT_LOADED, trustInBranch(extended(loads(0)).waiting(1).branchByTable(4).waiting(2).exit().exit()),
                "the upper half is of what was there before");
        assertEquals(NOT_LOADED, trustInBranch(ended(extended(loads(0)).stalling(3))));
        for (int bit : new int[] {11, 9, 14, 15}) { // of 8 bits, of 64 bits, and with the number of the bank in the index
            CodeWords other = new CodeWords().add(0x0080000004047b82L, 0x000e620000000800L ^ 1L << bit);
            assertEquals(NOT_LOADED, trustInBranch(ended(extended(other))), "bit " + bit);
        }
        CodeWords uniform = extended(loads(0));
        long[] branch = ended(new CodeWords().nothing().nothing()).words();
        uniform.add(branch[4] & ~0xfffL | 0x958, branch[5] | 1L << 27).exit().exit();
        assertEquals(NOT_LOADED, trustInBranch(uniform), "BRXU goes by a uniform register");
        CodeWords late = new CodeWords().add(0x0000000006047984L, 0x000e220000000800L);
        long[] load = loads(0).words();
        assertEquals("a BRX whose target may change at offset 0x30", trustInBranch(ended(extended(late.add(load[0], load[1])))),
                "LDS R4 that nobody waits for");
    }

    /** Each branch's table is looked for in all of the bank. */
    @Test
    @Timeout(60)
    void manyBranchesAreNotLookedForForEver() throws MachineCodeException {
        int branches = 8_000;
        CodeWords code = new CodeWords();
        int[] bank = new int[branches];
        for (int i = 0; i < branches; i++) {
            code.branchByTable(4);
            bank[i] = 16 * i;
        }
        CubinBuilder cubin = CubinBuilder.of("k", code.exit()).tables("k", bank);
        for (int i = 0; i < branches; i++) {
            cubin.attribute("k", 0x34, 16 * i, 0, 1, 16 * (branches - 1 - i));
        }
        assertTrue(examine(cubin.build()).refused().get("k").startsWith("a branch whose table is not in its bank"));
    }

    @Test
    void aBranchWithoutATable() throws MachineCodeException {
        Map<String, String> without = Map.of("k", "a branch without a table at offset 0x20");
        assertEquals(without, examine(CubinBuilder.of("k", branches(0)).tables("k", 0x30, 0x40).build()).refused());
        assertEquals(without, examine(CubinBuilder.of("k", branches(0)).attribute("k", 0x34, 0x20, 0, 1, 0x30).build()).refused());
        CubinBuilder two = table(0, 0x30, 0x40).attribute("k", 0x34, 0x20, 0, 1, 0x30);
        assertEquals(Map.of("k", "a branch with two tables at offset 0x20"), examine(two.build()).refused());
    }

    @Test
    void aBankThatCanBeWritten() throws MachineCodeException {
        byte[] cubin = table(0, 0x20, 0x30).build();
        words(cubin).putLong(section(cubin, ".nv.constant2.k") + 8, 3);
        assertTrue(refusal(cubin).contains("can be written"));
    }

    @Test
    void whatIsTakenOnTrustIsSaid() throws MachineCodeException {
        byte[] cubin = CubinBuilder.of("k", new CodeWords().move(20, 0x20).call(3).exit().returnBy(20)).build();
        assertEquals(Map.of("k", "a RET by a register at offset 0x30"), examine(cubin).trusted());
        assertEquals(Map.of(), examine(cubin).refused());
    }

    @Test
    void damagedRelocations() {
        assertTrue(refusal(CubinBuilder.of("k", fenced()).section(".rela.text.k", 4, 0x40, new byte[25]).build()).contains("no number of them"));
    }
}
