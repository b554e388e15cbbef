package io.tessera.guardian.machine.container;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.machine.CodeWords;
import io.tessera.guardian.machine.CubinBuilder;
import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.MachineFences;
import io.tessera.guardian.machine.SampleCubins;
import io.tessera.guardian.machine.fence.CubinFencer;
import io.tessera.guardian.machine.verify.CubinVerifier;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Cubins are read and written as they are. */
class CubinTest {
    @ParameterizedTest
    @ValueSource(ints = {CubinBuilder.CUDA_13, CubinBuilder.BEFORE})
    void aCubinWithoutChangesComesOutAsItWas(int variant) throws MachineCodeException {
        byte[] bytes = SampleCubins.full(variant);
        assertArrayEquals(bytes, Cubin.read(bytes).bytes());
    }

    @ParameterizedTest
    @ValueSource(ints = {CubinBuilder.CUDA_13, CubinBuilder.BEFORE})
    void theHeaderSaysVariantAndArchitecture(int variant) throws MachineCodeException {
        Cubin cubin = Cubin.read(new CubinBuilder(variant, 86).kernel("k", 11, new CodeWords().exit()).build());
        assertEquals(86, cubin.architecture());
        assertEquals(variant == CubinBuilder.CUDA_13, cubin.isOfCuda13());
        assertEquals(".text.k", cubin.code().getFirst().name());
        assertNull(cubin.section(".text.other"));
        assertNull(cubin.section(0));
    }

    @Test
    void sectionsBehindOneThatGrowsMoveAndKeepTheirContentsAndAlignment() throws MachineCodeException {
        byte[] bytes = SampleCubins.full(CubinBuilder.CUDA_13);
        Cubin cubin = Cubin.read(bytes);
        CubinSection code = cubin.section(".text.branches");
        byte[] longer = Arrays.copyOf(code.data(), 1000);
        code.data(longer);
        byte[] written = cubin.bytes();
        Cubin again = Cubin.read(written);
        assertArrayEquals(longer, again.section(".text.branches").data());
        Cubin original = Cubin.read(bytes);
        for (CubinSection section : original.sections()) {
            if (!section.name().equals(".text.branches")) {
                assertArrayEquals(section.data(), again.sections().get(section.index()).data(), section.name());
            }
        }
        assertEquals(0, again.section(".text.calls").offset % 128);
        assertArrayEquals(written, again.bytes(), "a file that was written is read and written alike");
        ByteBuffer out = ByteBuffer.wrap(written).order(ByteOrder.LITTLE_ENDIAN);
        int load = (int) out.getLong(0x20) + 56;
        assertEquals(again.section(".text.branches").offset, out.getLong(load + 8), "the program header begins at the first code");
        CubinSection last = again.section(".text.function");
        assertEquals(last.offset + last.size, out.getLong(load + 8) + out.getLong(load + 32), "and ends with the last");
    }

    @Test
    void twoSectionsOfCodeOfOneNameAreRefused() {
        byte[] bytes = CubinBuilder.of("k", new CodeWords().exit()).section(".text.k", 1, 6, new byte[16]).build();
        MachineCodeException refused = assertThrows(MachineCodeException.class, () -> Cubin.read(bytes));
        assertEquals("two sections are named .text.k", refused.getMessage());
    }

    @Test
    void otherVariantsAndMachinesAreRefusedByName() {
        byte[] bytes = CubinBuilder.of("k", new CodeWords().exit()).build();
        bytes[7] = 3;
        assertEquals("a cubin of a form that is not known (OS ABI 3)",
                assertThrows(MachineCodeException.class, () -> Cubin.read(bytes)).getMessage());
        bytes[0x12] = 62;
        assertTrue(assertThrows(MachineCodeException.class, () -> Cubin.read(bytes)).getMessage().startsWith("not a cubin"));
    }

    @Test
    void symbolsAreReadAndReplaced() throws MachineCodeException {
        Cubin cubin = Cubin.read(SampleCubins.full(CubinBuilder.BEFORE));
        CubinSymbols symbols = CubinSymbols.of(cubin);
        CubinSymbols.Symbol kernel = symbols.of(cubin.section(".text.branches")).getFirst();
        assertEquals(new CubinSymbols.Symbol(1, "branches", CubinSymbols.FUNCTION, true, false, cubin.section(".text.branches").index(), 0, 144),
                kernel);
        symbols.place(kernel, 16, 99);
        symbols.store();
        CubinSymbols.Symbol placed = CubinSymbols.of(Cubin.read(cubin.bytes())).of(cubin.section(".text.branches")).getFirst();
        assertEquals(16, placed.value());
        assertEquals(99, placed.size());
    }

    @Test
    void aSymbolOutsideOfTheCodeIsRefused() throws MachineCodeException {
        byte[] inside = CubinBuilder.of("k", new CodeWords().nothing().exit()).symbol("s", "k", 16, 16, false).build();
        Cubin good = Cubin.read(inside);
        assertTrue(CodeReader.entered(good, good.section(".text.k"), CubinSymbols.of(good)).get(1));
        for (int value : new int[] {48, 8, -16}) {
            Cubin cubin = Cubin.read(CubinBuilder.of("k", new CodeWords().nothing().exit()).symbol("s", "k", value, 16, false).build());
            CubinSymbols symbols = CubinSymbols.of(cubin);
            assertThrows(MachineCodeException.class, () -> CodeReader.entered(cubin, cubin.section(".text.k"), symbols), "offset " + value);
        }
    }

    @Test
    void numbersOfRegistersAreReadAndReplacedBySymbol() throws MachineCodeException {
        Attributes attributes = Attributes.read(Cubin.read(SampleCubins.full(CubinBuilder.CUDA_13)).section(".nv.info").data());
        assertEquals(Map.of(1, 11, 2, 26, 3, 26), attributes.registers());
        assertEquals(Map.of(1, 11, 2, 27, 3, 26), Attributes.read(attributes.withRegisters(Map.of(2, 27))).registers());
    }

    /** From sm_100 on uniform registers are encoded in other bits: what is known would be wrong. */
    @ParameterizedTest
    @ValueSource(ints = {75, 87, 100, 103, 120})
    void otherArchitecturesAreRefusedByName(int architecture) throws MachineCodeException {
        byte[] known = new CubinBuilder(CubinBuilder.CUDA_13, 90).kernel("k", 11, new CodeWords().exit()).build();
        assertTrue(CubinVerifier.verify(known, MachineFences.MASK).isEmpty());
        byte[] bytes = new CubinBuilder(CubinBuilder.CUDA_13, architecture).kernel("k", 11, new CodeWords().exit()).build();
        String why = "machine code for sm_" + architecture + "; instructions are known for sm_80, sm_86, sm_89, sm_90 only";
        assertEquals(why, assertThrows(MachineCodeException.class, () -> CubinVerifier.verify(bytes, MachineFences.MASK)).getMessage());
        assertEquals(why, assertThrows(MachineCodeException.class, () -> CubinFencer.fence(bytes, MachineFences.MASK)).getMessage());
    }

    @Test
    void aCubinThatIsNotLinkedIsRefused() {
        byte[] bytes = CubinBuilder.of("k", new CodeWords().exit()).build();
        bytes[0x10] = 1;
        assertEquals("the cubin is not linked yet",
                assertThrows(MachineCodeException.class, () -> CubinVerifier.verify(bytes, MachineFences.MASK)).getMessage());
    }

    /** Thousands of sections that all have the bytes of one: a small file would become a large one. */
    @Test
    void aCubinThatGrowsByOverlappingSectionsIsRefused() throws MachineCodeException {
        CubinBuilder builder = CubinBuilder.of("k", new CodeWords().exit()).section(".large", 1, 0, new byte[1 << 20]);
        for (int i = 0; i < 200; i++) {
            builder.section(".small" + i, 1, 0, new byte[0]);
        }
        byte[] bytes = builder.build();
        assertEquals(1 << 20, Cubin.read(bytes).section(".large").data().length);
        ByteBuffer file = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        int headers = (int) file.getLong(0x28);
        int large = file.getShort(0x3c) - 201;
        for (int i = large + 1; i <= large + 200; i++) {
            file.putLong(headers + 64 * i + 24, file.getLong(headers + 64 * large + 24)).putLong(headers + 64 * i + 32, 1 << 20);
        }
        assertEquals("a cubin whose sections overlap", assertThrows(MachineCodeException.class, () -> Cubin.read(bytes)).getMessage());
    }

    /** Symbols whose names all end at the same byte. */
    @Test
    void namesThatOverlapWithoutEndAreRefused() {
        byte[] table = new byte[100_001];
        Arrays.fill(table, 0, 100_000, (byte) 'a');
        StringTable names = new StringTable(table);
        MachineCodeException refused = assertThrows(MachineCodeException.class, () -> {
            for (int i = 0; i < 100_000; i++) {
                assertEquals(100_000 - i, names.at(i).length());
            }
        });
        assertEquals("names of a cubin overlap", refused.getMessage());
        assertThrows(MachineCodeException.class, () -> new StringTable(table).at(-1));
        assertThrows(MachineCodeException.class, () -> new StringTable(table).at(100_001));
        assertThrows(MachineCodeException.class, () -> new StringTable(new byte[] {1, 2}).at(0));
    }
}
