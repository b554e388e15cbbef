package io.tessera.guardian.machine.verify;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tessera.guardian.machine.CodeWords;
import io.tessera.guardian.machine.CubinBuilder;
import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.MachineFences;
import io.tessera.guardian.machine.VerifiedCubin;
import io.tessera.guardian.machine.code.AccessDescriptors;
import io.tessera.guardian.machine.code.SectionFlow;
import io.tessera.guardian.machine.container.CodeReader;
import io.tessera.guardian.machine.container.Cubin;
import io.tessera.guardian.machine.container.CubinSymbols;
import io.tessera.guardian.machine.fence.CubinFencer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The driver's descriptor has its place in constant bank 0: a file that says something else of that place is refused. */
class DescriptorBankTest {
    private static final MachineFence MASK = MachineFences.MASK;
    private static final String BANK = ".nv.constant0.k";
    private static final String OTHER = "a kernel with something else where the driver keeps its descriptor, at 0x208";
    private static final int BYTES = 0x240;
    /** EIATTR_PARAM_CBANK. */
    private static final int PARAMETERS = 0x0a;
    private static final int CALL = 0x4b;

    private static CodeWords accesses() {
        return new CodeWords().loadDescriptor(4).loadByDescriptor(0, 2, 4).exit();
    }

    private static CubinBuilder kernel(byte[] bank) {
        return CubinBuilder.of("k", accesses()).section(BANK, 1, 2, bank);
    }

    private static byte[] bank(int nonZero) {
        byte[] bank = new byte[BYTES];
        bank[nonZero] = 1;
        return bank;
    }

    /** Verifies a cubin after fencing. */
    private static VerifiedCubin fenced(CubinBuilder builder) throws MachineCodeException {
        return CubinVerifier.inspect(CubinFencer.fence(builder.build(), MASK).bytes(), MASK);
    }

    private static void assertRefused(boolean refused, CubinBuilder builder) throws MachineCodeException {
        assertEquals(refused ? Map.of("k", OTHER) : Map.of(), fenced(builder).refused());
    }

    private static long descriptors(byte[] cubin, String kernel) throws MachineCodeException {
        Cubin read = Cubin.read(cubin);
        SectionFlow flow = SectionFlow.of(read.requireKnownInstructions(), CodeReader.words(read.section(".text." + kernel)),
                CodeReader.entered(read, read.section(".text." + kernel), CubinSymbols.of(read)));
        return IntStream.range(0, flow.count()).filter(i -> AccessDescriptors.has(flow, i)).count();
    }

    @Test
    void theDriversDescriptorIsKept() throws MachineCodeException {
        assertRefused(false, kernel(new byte[BYTES]));
        assertEquals(1, descriptors(CubinFencer.fence(kernel(new byte[BYTES]).build(), MASK).bytes(), "k"));
        assertEquals(Map.of(), fenced(kernel(new byte[BYTES])).trusted());
    }

    @ParameterizedTest
    @ValueSource(ints = {0x207, 0x208, 0x20f, 0x210})
    void theFileHasNoOther(int nonZero) throws MachineCodeException {
        assertRefused(nonZero >= 0x208 && nonZero < 0x210, kernel(bank(nonZero)));
    }

    @Test
    void theFileHasItsPlace() throws MachineCodeException {
        assertRefused(false, kernel(new byte[0x210]));
        assertRefused(true, kernel(new byte[0x20c]));
        assertRefused(true, CubinBuilder.of("k", accesses()));
        assertRefused(false, CubinBuilder.of("k", new CodeWords().load(0, 2).exit()));
    }

    @ParameterizedTest
    @CsvSource({"0x210, false", "0x20c, true", "0x208, true", "0x200, true", "0, true"})
    void parametersAreBehindIt(String offset, boolean refused) throws MachineCodeException {
        assertRefused(refused, kernel(new byte[BYTES]).attribute("k", PARAMETERS, 1, 0x10 << 16 | Integer.decode(offset)));
        assertRefused(refused, kernel(new byte[BYTES]).attribute(PARAMETERS, 1, 0x10 << 16 | Integer.decode(offset)));
        assertRefused(true, kernel(new byte[BYTES]).attribute("k", PARAMETERS, 1, 0x210, 0));
    }

    @Test
    void noRelocationWritesIt() throws MachineCodeException {
        CubinBuilder two = kernel(new byte[BYTES]).kernel("l", 29, new CodeWords().exit());
        assertRefused(false, two);
        assertRefused(true, two.relocation(BANK, 0x208, 2, 2, 0));
    }

    /** The other bank says that it is the kernel's, or the kernel's own bank says that it is another function's. */
    @Test
    void theBankIsTheKernels() throws MachineCodeException {
        String second = ".nv.constant0.l";
        CubinBuilder two = kernel(new byte[BYTES]).kernel("l", 29, new CodeWords().exit()).section(second, 1, 2, bank(0x208));
        assertRefused(false, two);
        byte[] fenced = CubinFencer.fence(two.build(), MASK).bytes();
        int code = Cubin.read(fenced).section(".text.k").index();
        assertEquals(Map.of("k", OTHER), CubinVerifier.verify(owner(fenced, second, code), MASK));
        assertEquals(Map.of("k", OTHER), CubinVerifier.verify(owner(fenced, BANK, Cubin.read(fenced).section(".text.l").index()), MASK));
    }

    private static byte[] owner(byte[] cubin, String section, int owner) throws MachineCodeException {
        byte[] changed = cubin.clone();
        ByteBuffer words = ByteBuffer.wrap(changed).order(ByteOrder.LITTLE_ENDIAN);
        words.putInt((int) words.getLong(0x28) + 64 * Cubin.read(cubin).section(section).index() + 0x2c, owner);
        return changed;
    }

    /**
     * Threads of the warp that are in the caller share the kernel's uniform registers. The fencer takes the descriptor away; code that
     * keeps it has that on trust.
     */
    @Test
    void aKernelThatOthersCall() throws MachineCodeException {
        CubinBuilder called = kernel(new byte[BYTES]).kernel("l", 29, new CodeWords().callSymbol().exit()).relocation("l", 0, CALL, 1, 0);
        byte[] fenced = CubinFencer.fence(called.build(), MASK).bytes();
        assertEquals(0, descriptors(fenced, "k"));
        assertEquals(Map.of(), CubinVerifier.inspect(fenced, MASK).trusted());
        CodeWords own = new CodeWords().loadDescriptor(4).logic(3, 3, MASK.baseHigh(), 255, 0xfc)
                .logic(3, 3, MASK.baseHigh() | MASK.mask(), 255, 0xc0)
                .loadByDescriptor(0, 2, 4).exit();
        CubinBuilder kept = CubinBuilder.of("k", own).section(BANK, 1, 2, new byte[BYTES]);
        assertEquals(Map.of(), CubinVerifier.inspect(kept.build(), MASK).trusted());
        VerifiedCubin seen = CubinVerifier.inspect(kept.kernel("l", 29, new CodeWords().callSymbol().exit()).relocation("l", 0, CALL, 1, 0).build(),
                MASK);
        assertEquals(Map.of(), seen.refused());
        assertEquals(Map.of("k", "descriptors in uniform registers, which other functions may change"), seen.trusted());
    }

    @Test
    void codeThatCallsOthersLosesItsDescriptors() throws MachineCodeException {
        CodeWords calls = new CodeWords().loadDescriptor(4).callSymbol().loadByDescriptor(0, 2, 4).exit();
        CubinBuilder builder = CubinBuilder.of("k", calls).function("f", 29, accesses()).section(BANK, 1, 2, new byte[BYTES]).relocation("k", 0x10,
                CALL, 2, 0);
        byte[] fenced = CubinFencer.fence(builder.build(), MASK).bytes();
        assertEquals(0, descriptors(fenced, "k"));
        assertEquals(0, descriptors(fenced, "f"));
        assertEquals(Map.of(), CubinVerifier.verify(fenced, MASK));
    }
}
