package io.tessera.guardian.machine.fence;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.fence.HoistedVariable;
import io.tessera.guardian.fence.HoistedVariable.Relocation;
import io.tessera.guardian.machine.CodeWords;
import io.tessera.guardian.machine.CubinBuilder;
import io.tessera.guardian.machine.FencedCubin;
import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.MachineFences;
import io.tessera.guardian.machine.MovedVariables;
import io.tessera.guardian.machine.container.Cubin;
import io.tessera.guardian.machine.container.Relocations;
import io.tessera.guardian.machine.verify.CubinVerifier;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Variables move into the window: the driver no longer writes their addresses. */
class VariableMovesTest {
    private static final long CONTROL = 0x000fe20000000000L;
    private static final String INITIAL = ".nv.global.init";
    private static final String ZERO = ".nv.global";
    private static final String BANK = ".nv.constant4";
    private static final String CONSTANTS = ".nv.constant3";
    private static final int NO_BITS = 8;
    private static final int ADDRESS = 2;
    private static final int LOW_HALF = 56;
    private static final int HIGH_HALF = 57;
    private static final int MANAGED = 4;
    private static final int FIRST = 2;
    private static final int SECOND = 3;
    private static final int THIRD = 4;

    /** {@code LDC.64 Rd, c[0x4][offset]}. */
    private static CodeWords address(CodeWords code, int register, long offset) {
        return code.add(0xff007b82L | (long) register << 16 | offset << 38 | 4L << 54, CONTROL | 0xa00);
    }

    /** A kernel that accesses the variable whose address is at offset 8 of bank 4. Symbols: k, first (initialised), second (initialised), third. */
    private static CubinBuilder cubin(int others) {
        return CubinBuilder.of("k", address(new CodeWords(), 2, 8).load(12, 2).exit())
                .section(INITIAL, 1, 3, new byte[] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}).section(ZERO, NO_BITS, 3, new byte[64])
                .section(BANK, 1, 2, new byte[32]).section(CONSTANTS, 1, 2, new byte[16])
                .variable("first", INITIAL, 0, 8, others).variable("second", INITIAL, 8, 8, others).variable("third", ZERO, 16, 32, others);
    }

    private static FencedCubin fenced(CubinBuilder builder) throws MachineCodeException {
        FencedCubin fenced = CubinFencer.fence(builder.build(), MachineFences.MASK);
        assertEquals(0, fenced.refused(), fenced.functions().toString());
        assertEquals(Map.of(), CubinVerifier.inspect(fenced.bytes(), MachineFences.MASK, fenced.moved().places()).refused());
        return fenced;
    }

    private static void refused(CubinBuilder builder, String used) throws MachineCodeException {
        FencedCubin fenced = CubinFencer.fence(builder.build(), MachineFences.MASK);
        assertEquals("a use of a variable of the module that cannot be moved at offset 0x10", fenced.functions().getFirst().refusal());
        assertFalse(names(fenced.moved()).contains(used));
        assertArrayEquals(code(builder.build()), code(fenced.bytes()));
    }

    private static byte[] code(byte[] cubin) throws MachineCodeException {
        return Cubin.read(cubin).section(".text.k").data();
    }

    private static List<String> names(MovedVariables moved) {
        return moved.variables().stream().map(HoistedVariable::name).sorted().toList();
    }

    private static long word(byte[] cubin, String section, int offset) throws MachineCodeException {
        return ByteBuffer.wrap(cubin, (int) Cubin.read(cubin).section(section).offset() + offset, 8).order(ByteOrder.LITTLE_ENDIAN).getLong();
    }

    @Test
    void addressesAreTakenFromTheDriver() throws MachineCodeException {
        FencedCubin fenced = fenced(cubin(0).relocation(BANK, 0, ADDRESS, FIRST, 0).relocation(BANK, 8, ADDRESS, SECOND, 4));
        HoistedVariable second = variable(fenced, "second");
        assertArrayEquals(new byte[] {9, 10, 11, 12, 13, 14, 15, 16}, second.initial());
        assertEquals(8, second.sizeBytes());
        assertEquals(List.of(), Relocations.into(Cubin.read(fenced.bytes()), BANK));
        fenced.moved().write(fenced.bytes(), name -> name.equals("second") ? 0x2040_0000_1000L : 0x2040_0000_2000L);
        assertEquals(0x2040_0000_1004L, word(fenced.bytes(), BANK, 8));
        assertEquals(0x2040_0000_2000L, word(fenced.bytes(), BANK, 0));
    }

    /** The program can ask for its address, and pass it to kernels of other cubins, as JAX does with its constants. */
    @Test
    void variablesThatNoCodeUsesMoveToo() throws MachineCodeException {
        assertEquals(List.of("first", "second", "third"), names(fenced(cubin(0)).moved()));
        CubinBuilder alone = new CubinBuilder(CubinBuilder.CUDA_13, 90).section(ZERO, NO_BITS, 3, new byte[64])
                .section(BANK, 1, 2, new byte[8]).variable("first", ZERO, 0, 64, 0).relocation(BANK, 0, ADDRESS, 1, 0);
        FencedCubin fenced = fenced(alone);
        assertEquals(List.of("first"), names(fenced.moved()));
        assertEquals(List.of(), Relocations.into(Cubin.read(fenced.bytes()), BANK));
    }

    @Test
    void whatCannotMoveStaysWithTheDriver() throws MachineCodeException {
        FencedCubin fenced = fenced(cubin(0).variable("managed", ZERO, 48, 8, MANAGED).relocation(BANK, 0, ADDRESS, THIRD + 1, 0));
        assertEquals(List.of("first", "second", "third"), names(fenced.moved()));
        assertEquals(List.of(0L), Relocations.into(Cubin.read(fenced.bytes()), BANK).stream().map(Relocations.Relocation::offset).toList());
    }

    @Test
    void withoutAFenceNothingMoves() throws MachineCodeException {
        assertTrue(CubinFencer.fence(cubin(0).build(), MachineFences.NONE).moved().isEmpty());
    }

    private static HoistedVariable variable(FencedCubin fenced, String name) {
        return fenced.moved().variables().stream().filter(variable -> variable.name().equals(name)).findFirst().orElseThrow();
    }

    /** Sizes of sections without contents are what the file says. Together these are 2^64 bytes, which are none in 64 bits. */
    @Test
    void variablesThatAreTooLargeTogetherStay() throws MachineCodeException {
        long[] sizes = {Long.MAX_VALUE, Long.MAX_VALUE, 2};
        CubinBuilder builder = CubinBuilder.of("k", address(new CodeWords(), 2, 8).load(12, 2).exit()).section(BANK, 1, 2, new byte[32])
                .relocation(BANK, 8, ADDRESS, FIRST, 0);
        for (int i = 0; i < sizes.length; i++) {
            builder.section(ZERO + "." + i, NO_BITS, 3, new byte[1]).variable("v" + i, ZERO + "." + i, 0, sizes[i], 0);
        }
        byte[] cubin = builder.build();
        ByteBuffer words = ByteBuffer.wrap(cubin).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < sizes.length; i++) {
            words.putLong((int) words.getLong(0x28) + 64 * Cubin.read(cubin).section(ZERO + "." + i).index() + 32, sizes[i]);
        }
        FencedCubin fenced = CubinFencer.fence(cubin, MachineFences.MASK);
        assertEquals("a use of a variable of the module that cannot be moved at offset 0x10", fenced.functions().getFirst().refusal());
        assertTrue(fenced.moved().isEmpty());
    }

    @Test
    void memoryWithoutContentsIsZero() throws MachineCodeException {
        HoistedVariable third = variable(fenced(cubin(0).relocation(BANK, 8, ADDRESS, THIRD, 0)), "third");
        assertEquals(32, third.sizeBytes());
        assertEquals(0, third.initial().length);
    }

    /** Halves of an address in two instructions; the code may have moved. */
    @ParameterizedTest
    @ValueSource(ints = {LOW_HALF, HIGH_HALF})
    void anAddressInTheCode(int type) throws MachineCodeException {
        CubinBuilder builder = CubinBuilder.of("k", new CodeWords().load(12, 4).move(2, 0).load(14, 2).exit())
                .section(ZERO, NO_BITS, 3, new byte[64]).variable("only", ZERO, 0, 64, 0).relocation("k", 16, type, 2, 8);
        FencedCubin fenced = fenced(builder);
        Relocation place = fenced.moved().places().getFirst();
        assertEquals(new Relocation(place.offsetBytes(), 4, type == LOW_HALF ? 0 : 32, "only", 8), place);
        fenced.moved().write(fenced.bytes(), _ -> 0x2041_1234_5678L);
        long expected = type == LOW_HALF ? 0x1234_5680L : 0x2041;
        long found = -1;
        for (int at = 0; at < Cubin.read(fenced.bytes()).section(".text.k").data().length; at += 16) {
            long low = word(fenced.bytes(), ".text.k", at);
            found = (low & 0xffffffffL) == 0x00027802L ? low >>> 32 : found;
        }
        assertEquals(expected, found);
        assertEquals(Map.of(), CubinVerifier.inspect(fenced.bytes(), MachineFences.MASK, fenced.moved().places()).refused());
    }

    @Test
    void addressesInVariablesAndConstants() throws MachineCodeException {
        FencedCubin fenced = fenced(cubin(0).relocation(BANK, 8, ADDRESS, FIRST, 0).relocation(INITIAL, 0, ADDRESS, SECOND, 0)
                .relocation(CONSTANTS, 8, ADDRESS, THIRD, 0));
        assertEquals(List.of("first", "second", "third"), names(fenced.moved()));
        HoistedVariable first = variable(fenced, "first");
        assertEquals(List.of(new Relocation(0, 8, 0, "second", 0)), first.relocations());
        fenced.moved().write(fenced.bytes(), name -> name.equals("third") ? 0x2040_0000_2000L : 0);
        assertEquals(0x2040_0000_2000L, word(fenced.bytes(), CONSTANTS, 8));
    }

    @Test
    void whatCannotMoveRefusesTheFunctionsThatUseIt() throws MachineCodeException {
        refused(cubin(MANAGED).relocation(BANK, 8, ADDRESS, FIRST, 0), "first");
        refused(cubin(0).relocation(BANK, 8, ADDRESS, FIRST, 8 + 8), "first"); // leads out of the section's variables
        refused(cubin(0).relocation(BANK, 8, ADDRESS + 100, FIRST, 0), "first"); // in a form that is not known
        refused(cubin(0).variable("over", INITIAL, 4, 8, 0).relocation(BANK, 8, ADDRESS, FIRST, 0), "first");
        refused(cubin(0).variable("first", ZERO, 0, 8, 0).relocation(BANK, 8, ADDRESS, FIRST, 0), "first"); // It is not known which of the two is used.
        refused(cubin(0).variable("long", ZERO, 48, Long.MAX_VALUE, 0).relocation(BANK, 8, ADDRESS, THIRD, 0), "third");
        refused(cubin(0).relocation(BANK, 8, ADDRESS, FIRST, 0).relocation(INITIAL, 0, ADDRESS, 1, 0), "first"); // it holds the address of a function
        refused(cubin(0).relocation(BANK, 8, ADDRESS, FIRST, 0).relocation(INITIAL, 4, ADDRESS, SECOND, 0), "first"); // an address over two variables
    }

    /** Chains are followed to their end. */
    @Test
    void whatLeadsToAFunctionStays() throws MachineCodeException {
        refused(cubin(0).relocation(BANK, 8, ADDRESS, FIRST, 0).relocation(INITIAL, 0, ADDRESS, SECOND, 0).relocation(INITIAL, 8, ADDRESS, THIRD, 0)
                .relocation(ZERO, 16, ADDRESS, 1, 0), "first");
    }

    /** An address that is written after it was looked at is not to change code. */
    @Test
    void placesThatAreNoneForAnAddressAreRefused() throws MachineCodeException {
        FencedCubin fenced = fenced(cubin(0).relocation(BANK, 8, ADDRESS, FIRST, 0));
        Cubin cubin = Cubin.read(fenced.bytes());
        long code = cubin.section(".text.k").offset();
        long bank = cubin.section(BANK).offset();
        for (Relocation place : List.of(new Relocation(code, 8, 0, "first", 0), new Relocation(code + 8, 4, 0, "first", 0),
                new Relocation(code + 4, 4, 8, "first", 0), new Relocation(bank + 28, 8, 0, "first", 0), new Relocation(bank + 8, 4, 0, "first", 0),
                new Relocation(4, 8, 0, "first", 0), new Relocation(-8, 8, 0, "first", 0), new Relocation(fenced.bytes().length, 8, 0, "first", 0),
                new Relocation(cubin.section(".nv.info").offset(), 8, 0, "first", 0))) {
            assertThrows(MachineCodeException.class, () -> CubinVerifier.inspect(fenced.bytes(), MachineFences.MASK, List.of(place)),
                    place.toString());
        }
        Relocation load = new Relocation(code + 4, 4, 0, "first", 0);
        assertEquals("a relocation that may change an instruction at offset 0x0",
                CubinVerifier.inspect(fenced.bytes(), MachineFences.MASK, List.of(load)).refused().get("k"));
    }
}
