package io.tessera.guardian.machine.verify;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.tessera.guardian.machine.VerifiedCubin;
import io.tessera.guardian.machine.CodeWords;
import io.tessera.guardian.machine.CubinBuilder;
import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.MachineFences;
import io.tessera.guardian.machine.container.Cubin;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Relocations, symbols and attributes that make other code of what the verifier reads. The same cubin without the fault is accepted. */
class LoaderWritesTest {
    private static final int LOW_HALF = 0x38;
    private static final int CALL = 0x4b;
    /** Writes 64 bits. */
    private static final int WHOLE = 2;
    private static final MachineFence MASK = MachineFences.MASK;
    private static final String CHANGED = "a relocation that may change an instruction at offset 0x";
    private static final long CONTROL = 0x000fe20000000000L;
    private static final int BASE = 40;

    private static Map<String, String> refused(CubinBuilder builder) throws MachineCodeException {
        return CubinVerifier.inspect(builder.build(), MASK).refused();
    }

    private static CubinBuilder moves(int offset, int type) {
        return CubinBuilder.of("k", new CodeWords().move(4, 0).nothing().exit()).relocation("k", offset, type, 1, 0);
    }

    @Test
    void onlyTheConstantOfAMoveIsWritten() throws MachineCodeException {
        assertEquals(Map.of(), refused(moves(0, LOW_HALF)));
        assertEquals(Map.of("k", CHANGED + "0"), refused(moves(0, WHOLE)), "all of it");
        assertEquals(Map.of("k", CHANGED + "c"), refused(moves(12, LOW_HALF)), "the next instruction, too");
    }

    @Test
    void onlyCodeIsCalled() throws MachineCodeException {
        CubinBuilder good = CubinBuilder.of("k", new CodeWords().callSymbol().exit()).function("f", 29, new CodeWords().exit());
        assertEquals(Map.of(), refused(good.relocation("k", 0, CALL, 2, 0)));
        byte[] cubin = CubinBuilder.of("k", new CodeWords().callSymbol().exit()).function("f", 29, new CodeWords().exit())
                .relocation("k", 0, CALL, 2, 0)
                .section(".nv.global.init", 1, 3, new byte[64]).build();
        ByteBuffer symbol = symbol(cubin, 2);
        symbol.put(4, (byte) 0x11).putShort(6, (short) Cubin.read(cubin).section(".nv.global.init").index());
        assertEquals(Map.of("k", CHANGED + "0"), CubinVerifier.inspect(cubin, MASK).refused(), "a variable that programs can write");
    }

    private static ByteBuffer symbol(byte[] cubin, int number) throws MachineCodeException {
        ByteBuffer words = ByteBuffer.wrap(cubin).order(ByteOrder.LITTLE_ENDIAN);
        int table = (int) words.getLong((int) words.getLong(0x28) + 64 * Cubin.read(cubin).section(".symtab").index() + 24);
        return words.slice(table + 24 * number, 24).order(ByteOrder.LITTLE_ENDIAN);
    }

    @Test
    void aReportIsNotWritten() throws MachineCodeException {
        MachineFence fence = MASK.reporting(0x2000_0000_1000L, 5);
        assertEquals(Map.of(), CubinVerifier.inspect(report(fence).build(), fence).refused());
        assertEquals(Map.of("k", "a relocation that may change a report at offset 0x0"),
                CubinVerifier.inspect(report(fence).relocation("k", 0x10, LOW_HALF, 1, 0).build(), fence).refused());
    }

    private static CubinBuilder report(MachineFence fence) {
        return CubinBuilder.of("k", new CodeWords().move(0, 0x1000).waiting(0x3f).move(1, 0x2000).move(2, fence.reported(MachineFence.TRAP))
                .add(ReportSequence.STORE | 0x7000, ReportSequence.STORE_HIGH | 1L << 41 | 0x3fL << 46)
                .add(ReportSequence.EXIT | 0x7000, ReportSequence.EXIT_HIGH | 5L << 41 | 0x3fL << 46).exit());
    }

    /** A function in the kernel's section has no base if another section calls it. */
    @Test
    void theBaseIsNotKeptWhereAnotherSectionEnters() throws MachineCodeException {
        CodeWords code = new CodeWords().move(BASE, MASK.baseHigh()).exit().logic(3, 3, MASK.mask(), BASE, 0xea).load(12, 2).exit();
        CubinBuilder caller = CubinBuilder.of("k", code).symbol("inner", "k", 0x20, 0x30, false).kernel("l", 29, new CodeWords().callSymbol().exit());
        assertEquals(Map.of("k", "another section may enter behind the start, where the window's base is not loaded"),
                refused(caller.relocation("l", 0, CALL, 3, 0)));
        CubinBuilder alone = CubinBuilder.of("k", code).symbol("inner", "k", 0x20, 0x30, false).kernel("l", 29, new CodeWords().exit());
        assertEquals(Map.of(), refused(alone));
    }

    private static CodeWords copies() {
        return new CodeWords().add(0x0000660000047ab9L, CONTROL | 0xa00L).add(0x00000008040075b4L, CONTROL | 0x08008000L).exit();
    }

    @Test
    void tensorMapsAreCountedFromWhereTheParametersBegin() throws MachineCodeException {
        String other = "a kernel with tensor maps whose parameters do not begin at 0x210";
        VerifiedCubin found = CubinVerifier.inspect(CubinBuilder.of("k", copies()).attribute("k", 0x0a, 0, 0x400210).build(), MASK);
        assertEquals(Map.of(), found.refused());
        assertEquals(Set.of(0), found.tensorMaps().get("k").single());
        assertEquals(Map.of("k", "a tensor map by uniform registers, which may change before the copy"), found.trusted());
        assertEquals(Map.of("k", other), refused(CubinBuilder.of("k", copies()).attribute("k", 0x0a, 0, 0x400310)));
        assertEquals(Map.of("k", other), refused(CubinBuilder.of("k", copies())));
        assertEquals(Map.of("k", other), refused(CubinBuilder.of("k", copies()).attribute("k", 0x0a, 0, 0x400210).attribute("k", 0x0a, 0, 0x400310)));
    }

    @Test
    void tablesOfRelocationsAndBanksAreWhatTheirNamesSay() throws MachineCodeException {
        CubinBuilder builder = CubinBuilder.of("k", new CodeWords().exit()).tables("k", 0);
        assertEquals(Map.of(), refused(builder));
        builder.section(".rela.text.k", 4, 0x40, new byte[24]);
        assertEquals("section .rela.text.k has relocations of another section",
                assertThrows(MachineCodeException.class, () -> refused(builder)).getMessage());
        CubinBuilder two = CubinBuilder.of("k", new CodeWords().exit()).tables("k", 0).section(".nv.constant2.k", 1, 2, new byte[4]);
        assertEquals("two sections are named .nv.constant2.k", assertThrows(MachineCodeException.class, () -> refused(two)).getMessage());
    }

    @Test
    void relocationsDoNotChangeBranchTablesOrHaveTheirAddendsInCode() throws MachineCodeException {
        byte[] table = CubinBuilder.of("k", new CodeWords().exit()).tables("k", 0).section(".rela.nv.constant2.k", 4, 0x40, new byte[24]).build();
        int bank = Cubin.read(table).section(".nv.constant2.k").index();
        setInfo(table, ".rela.nv.constant2.k", bank);
        assertEquals("section .rela.nv.constant2.k changes branch tables",
                assertThrows(MachineCodeException.class, () -> CubinVerifier.inspect(table, MASK)).getMessage());
        String why = "a relocation that may change an instruction at offset 0x0";
        assertEquals(Map.of("k", why), withoutAddend(new CodeWords().move(4, 0x10).exit(), 56));
        assertEquals(Map.of("k", why), withoutAddend(new CodeWords().move(4, 0).exit(), 58));
        assertEquals(Map.of("k", why), withoutAddend(new CodeWords().nothing().exit(), 56));
        assertEquals(Map.of(), withoutAddend(new CodeWords().move(4, 0).exit(), 56));
    }

    /** Refusals of code into whose first instruction a table without addends has a relocation. */
    private static Map<String, String> withoutAddend(CodeWords words, int type) throws MachineCodeException {
        byte[] relocation = new byte[16];
        ByteBuffer.wrap(relocation).order(ByteOrder.LITTLE_ENDIAN).putLong(8, 1L << 32 | type);
        byte[] code = CubinBuilder.of("k", words).section(".rel.text.k", 9, 0x40, relocation).build();
        setInfo(code, ".rel.text.k", Cubin.read(code).section(".text.k").index());
        return CubinVerifier.inspect(code, MASK).refused();
    }

    private static void setInfo(byte[] cubin, String section, int info) throws MachineCodeException {
        ByteBuffer words = ByteBuffer.wrap(cubin).order(ByteOrder.LITTLE_ENDIAN);
        words.putInt((int) words.getLong(0x28) + 64 * Cubin.read(cubin).section(section).index() + 44, info);
    }
}
