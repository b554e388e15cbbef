package io.tessera.guardian.machine.fence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.machine.CodeWords;
import io.tessera.guardian.machine.CubinBuilder;
import io.tessera.guardian.machine.FencedCubin;
import io.tessera.guardian.machine.FunctionReport;
import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.MachineFences;
import io.tessera.guardian.machine.container.Attributes;
import io.tessera.guardian.machine.container.CodeReader;
import io.tessera.guardian.machine.container.Cubin;
import io.tessera.guardian.machine.container.CubinSymbols;
import io.tessera.guardian.machine.verify.CubinVerifier;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A cubin's tables, attributes, symbols and relocations move with the code. */
class MovedPlacesTest {
    private static CodeWords tables() {
        return new CodeWords().load(0, 2).branchByTable(4).load(6, 8).exit().store(10, 6).exit();
    }

    private static Cubin fenced(CubinBuilder builder) throws MachineCodeException {
        FencedCubin fenced = CubinFencer.fence(builder.build(), MachineFences.MASK);
        assertEquals(0, fenced.refused(), fenced.functions().toString());
        assertEquals(Map.of(), CubinVerifier.verify(fenced.bytes(), MachineFences.MASK));
        return Cubin.read(fenced.bytes());
    }

    /** Registers 11: the base gets one, so an instruction at the start and one before each of the accesses. */
    @Test
    void tablesOfBranchesMove() throws MachineCodeException {
        Cubin cubin = fenced(CubinBuilder.of("k", tables()).attribute("k", 0x34, 0x10, 0, 2, 0x20, 0x40).tables("k", 7, 0x20, 0x40, 9));
        int[] table = Attributes.read(cubin.section(".nv.info.k").data()).branchTables().getFirst();
        assertArrayEquals(new int[] {0x30, 0x40, 0x70}, table);
        ByteBuffer bank = ByteBuffer.wrap(cubin.section(".nv.constant2.k").data()).order(ByteOrder.LITTLE_ENDIAN);
        assertArrayEquals(new int[] {7, 0x40, 0x70, 9}, new int[] {bank.getInt(), bank.getInt(), bank.getInt(), bank.getInt()});
    }

    @Test
    void aBranchWhoseTableIsNotInItsBankIsRefused() throws MachineCodeException {
        CubinBuilder builder = CubinBuilder.of("k", tables()).attribute("k", 0x34, 0x10, 0, 2, 0x20, 0x40).tables("k", 7, 0x20, 0x50, 9);
        FencedCubin fenced = CubinFencer.fence(builder.build(), MachineFences.MASK);
        assertEquals("a branch whose table is not found at offset 0x10", fenced.functions().getFirst().refusal());
        assertArrayEquals(builder.build(), fenced.bytes(), "a function that is refused stays as it is");
    }

    /** Drivers may change instructions that attributes name, so that these are to name them and not their fences; branches go to the fence. */
    @Test
    void attributesNameTheInstructionAndNotItsFence() throws MachineCodeException {
        Cubin cubin = fenced(CubinBuilder.of("k", tables()).attribute("k", 0x34, 0x10, 0, 1, 0x20).attribute("k", 0x2e, 0x20, 5).tables("k", 0x20));
        ByteBuffer attributes = ByteBuffer.wrap(cubin.section(".nv.info.k").data()).order(ByteOrder.LITTLE_ENDIAN);
        int target = attributes.getInt(16);
        int named = attributes.getInt(24);
        assertTrue(named > target, "0x" + Integer.toHexString(named) + " is behind 0x" + Integer.toHexString(target));
        long[] code = CodeReader.words(cubin.section(".text.k"));
        assertEquals(0x981, code[named / 8] & 0xfff, "the load itself");
    }

    @Test
    void attributesMove() throws MachineCodeException {
        Cubin cubin = fenced(CubinBuilder.of("k", new CodeWords().load(0, 2).exit().load(4, 6).exit()).attribute("k", 0x1c, 0x10, 0x30));
        ByteBuffer attribute = ByteBuffer.wrap(cubin.section(".nv.info.k").data()).order(ByteOrder.LITTLE_ENDIAN);
        assertEquals(0x30, attribute.getInt(4));
        assertEquals(0x60, attribute.getInt(8));
    }

    @ParameterizedTest
    @ValueSource(ints = {CubinBuilder.CUDA_13, CubinBuilder.BEFORE})
    void aRegisterForTheBaseIsCounted(int variant) throws MachineCodeException {
        Cubin cubin = fenced(new CubinBuilder(variant, 90).kernel("k", 11, new CodeWords().load(0, 2).exit()).kernel("full", 16,
                new CodeWords().load(0, 2).exit()));
        assertEquals(Map.of(1, 12, 2, 16), Attributes.read(cubin.section(".nv.info").data()).registers());
        assertEquals(Map.of("k", 1, "full", 0), added(variant, MachineFences.MASK), "of those that are told to programs");
        assertEquals(Map.of("k", 0, "full", 0), added(variant, new MachineFence(MachineFence.Kind.NONE, 0, 0)));
        if (variant == CubinBuilder.BEFORE) {
            assertEquals(12, cubin.section(".text.k").info() >>> 24);
            assertEquals(16, cubin.section(".text.full").info() >>> 24);
        }
    }

    private static Map<String, Integer> added(int variant, MachineFence fence) throws MachineCodeException {
        CubinBuilder cubin = new CubinBuilder(variant, 90).kernel("k", 11, new CodeWords().load(0, 2).exit()).kernel("full", 16,
                new CodeWords().load(0, 2).exit());
        return CubinFencer.fence(cubin.build(), fence).functions().stream()
                .collect(Collectors.toMap(FunctionReport::name, FunctionReport::addedRegisters));
    }

    @Test
    void symbolsMove() throws MachineCodeException {
        CodeWords code = new CodeWords().load(0, 2).move(20, 0x30).call(4).exit().load(4, 6).returnBy(20);
        Cubin cubin = fenced(CubinBuilder.of("k", code).symbol("inner", "k", 0x40, 0x20, false));
        CubinSymbols symbols = CubinSymbols.of(cubin);
        CubinSymbols.Symbol kernel = symbols.all().get(1);
        CubinSymbols.Symbol inner = symbols.all().get(2);
        assertEquals(0, kernel.value());
        assertEquals(cubin.section(".text.k").data().length, kernel.size());
        assertEquals(0x60, inner.value());
        assertEquals(cubin.section(".text.k").data().length - 0x60, inner.size());
    }

    @ParameterizedTest
    @MethodSource("io.tessera.guardian.machine.MachineFences#windows")
    void relocationsMove(MachineFence fence) throws MachineCodeException {
        CubinBuilder builder = new CubinBuilder(CubinBuilder.CUDA_13, 90).kernel("k", 26, new CodeWords().load(0, 2).callSymbol().exit())
                .function("f", 26, new CodeWords().compareAndSwap(0, 4, 6, 7).load(8, 10).returnBy(20)).relocation("k", 0x14, 0x39, 2, 0x10);
        Cubin cubin = Cubin.read(CubinFencer.fence(builder.build(), fence).bytes());
        ByteBuffer relocation = ByteBuffer.wrap(cubin.section(".rela.text.k").data()).order(ByteOrder.LITTLE_ENDIAN);
        byte[] code = cubin.section(".text.k").data();
        int call = (int) relocation.getLong(0) - 4;
        assertEquals(0x943, ByteBuffer.wrap(code).order(ByteOrder.LITTLE_ENDIAN).getLong(call) & 0xfff, "it is of the call");
        ByteBuffer function = ByteBuffer.wrap(cubin.section(".text.f").data()).order(ByteOrder.LITTLE_ENDIAN);
        int access = (int) relocation.getLong(16);
        while ((function.getLong(access) & 0xfff) != 0x981) {
            access += 16;
        }
        assertTrue(access - relocation.getLong(16) <= 32, "it leads to the second access of the function, or its fence");
        assertTrue(relocation.getLong(16) > 0x10);
    }

    /** A relocated place has to be an instruction; the verifier refuses relocations of accesses. */
    @ParameterizedTest
    @ValueSource(ints = {0x30, 0x1000, -16})
    void aRelocationOutsideOfTheCodeIsRefused(int offset) {
        CubinBuilder builder = CubinBuilder.of("k", new CodeWords().load(0, 2).nothing().exit()).relocation("k", offset, 0x38, 1, 0);
        assertThrows(MachineCodeException.class, () -> CubinFencer.fence(builder.build(), MachineFences.MASK));
    }
}
