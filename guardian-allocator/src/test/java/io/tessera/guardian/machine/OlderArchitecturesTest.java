package io.tessera.guardian.machine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.machine.code.Architecture;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.SectionFlow;
import io.tessera.guardian.machine.container.CodeReader;
import io.tessera.guardian.machine.container.Cubin;
import io.tessera.guardian.machine.fence.CubinFencer;
import io.tessera.guardian.machine.verify.CubinVerifier;
import java.util.BitSet;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests the differences before sm_90, with the words that ptxas writes there. */
class OlderArchitecturesTest {
    private static final long CONTROL = 0x000fe20000000000L;
    /** {@code LDG.E R8, [R2.64+UR4]}, and with {@code RZ}. */
    private static final long SUM = 0x0000000402087981L;
    private static final long ABSOLUTE = 0x00000004ff087981L;
    private static final long SUM_HIGH = 0x000ea2000c1e0900L;
    private static final int IMNMX = 0x1c17;
    private static final int VIMNMX = 0x1c48;

    private static byte[] cubin(Architecture architecture, CodeWords code) {
        return new CubinBuilder(CubinBuilder.CUDA_13, architecture.number()).kernel("k", 26, code).build();
    }

    private static String refusal(Architecture architecture, CodeWords code, MachineFence fence) throws MachineCodeException {
        return CubinFencer.fence(cubin(architecture, code), fence).functions().getFirst().refusal();
    }

    /** The keys of the code that is fenced, and seen to be. */
    private static int[] fenced(Architecture architecture, CodeWords code, MachineFence fence) throws MachineCodeException {
        FencedCubin fenced = CubinFencer.fence(cubin(architecture, code), fence);
        assertNull(fenced.functions().getFirst().refusal());
        assertEquals(Map.of(), CubinVerifier.verify(fenced.bytes(), fence));
        long[] words = words(fenced.bytes());
        return IntStream.range(0, words.length / 2).map(i -> InstructionWord.key(words[2 * i], words[2 * i + 1])).toArray();
    }

    private static long[] words(byte[] cubin) throws MachineCodeException {
        return CodeReader.words(Cubin.read(cubin).section(".text.k"));
    }

    private static long count(int[] keys, int key) {
        return IntStream.of(keys).filter(other -> other == key).count();
    }

    @ParameterizedTest
    @EnumSource(Architecture.class)
    void allPartsOfACubinAreFenced(Architecture architecture) throws MachineCodeException {
        for (int variant : new int[] {CubinBuilder.CUDA_13, CubinBuilder.BEFORE}) {
            byte[] cubin = SampleCubins.full(variant, architecture);
            for (MachineFence fence : MachineFences.windows().toList()) {
                FencedCubin fenced = CubinFencer.fence(cubin, fence);
                assertEquals(0, fenced.refused());
                assertEquals(Map.of(), CubinVerifier.verify(fenced.bytes(), fence));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(value = Architecture.class, names = "SM_90", mode = EnumSource.Mode.EXCLUDE)
    void sumsAreLimitedByAnotherInstruction(Architecture architecture) throws MachineCodeException {
        CodeWords code = new CodeWords(architecture).add(SUM, SUM_HIGH).exit();
        for (MachineFence fence : MachineFences.windows().toList()) {
            int[] keys = fenced(architecture, code, fence);
            assertEquals(2, count(keys, IMNMX), fence.kind().toString());
            assertEquals(0, count(keys, VIMNMX));
        }
        assertEquals(2, count(fenced(Architecture.SM_90, new CodeWords().add(SUM, SUM_HIGH).exit(), MachineFences.MASK), VIMNMX));
    }

    @ParameterizedTest
    @EnumSource(value = Architecture.class, names = "SM_90", mode = EnumSource.Mode.EXCLUDE)
    void anAddressInUniformRegistersIsForced(Architecture architecture) throws MachineCodeException {
        CodeWords code = new CodeWords(architecture).add(ABSOLUTE, SUM_HIGH).exit();
        for (MachineFence fence : MachineFences.windows().toList()) {
            assertEquals(2, count(fenced(architecture, code, fence), 0x1892), fence.kind().toString());
        }
        assertEquals("a LDG that adds a uniform register to its address at offset 0x0",
                refusal(Architecture.SM_90, new CodeWords().add(ABSOLUTE, SUM_HIGH).exit(), MachineFences.MASK), "there the form is another one");
    }

    /** No compiled code before sm_90 shows what {@code [R.U32+UR.64]} does. */
    @Test
    void theBaseIsNotAddedByTheAccess() throws MachineCodeException {
        byte[] fenced = CubinFencer.fence(cubin(Architecture.SM_90, new CodeWords().load(0, 2).exit()), MachineFences.LOW_WORD).bytes();
        assertEquals(Map.of(), CubinVerifier.verify(fenced, MachineFences.LOW_WORD));
        fenced[0x31] = 80; // the architecture, in the flags
        assertTrue(CubinVerifier.verify(fenced, MachineFences.LOW_WORD).get("k").contains("uniform register that is not the window's base"));
        int[] keys = fenced(Architecture.SM_80, new CodeWords(Architecture.SM_80).load(0, 2).exit(), MachineFences.LOW_WORD);
        assertEquals(0x802, keys[0], "MOV into the high word");
    }

    /** {@code WARPSYNC 0xffffffff} and {@code WARPSYNC R2} go on at the next instruction. */
    @Test
    void theMaskOfWarpsyncIsNoTarget() throws MachineCodeException {
        CodeWords code = new CodeWords(Architecture.SM_80).add(0xffffffff00007948L, CONTROL | 0x03800000L)
                .add(0x0000000200007348L, CONTROL | 0x03800000L)
                .exit();
        SectionFlow flow = code.flow();
        assertEquals(SectionFlow.NONE, flow.target(0));
        assertTrue(flow.isOnlyFollowing(1) && flow.isOnlyFollowing(2));
        CodeWords exclusive = new CodeWords(Architecture.SM_80).add(0xffffffff00007948L, CONTROL | 0x03c00000L).exit();
        assertEquals("an instruction that is not known (opcode 0x948) at offset 0x0",
                assertThrows(MachineCodeException.class, exclusive::flow).getMessage());
    }

    /** {@code VIADD} is an instruction of sm_90, {@code IMNMX} one of those before, {@code I2FP} is not one of sm_80, {@code QMMA} one of sm_89. */
    @ParameterizedTest
    @EnumSource(Architecture.class)
    void instructionsAreThoseOfTheArchitecture(Architecture architecture) {
        assertEquals(architecture == Architecture.SM_90, isKnown(architecture, 0x7836));
        assertEquals(architecture != Architecture.SM_90, isKnown(architecture, 0x7817));
        assertEquals(architecture != Architecture.SM_80, isKnown(architecture, 0x7245));
        assertEquals(architecture == Architecture.SM_89, isKnown(architecture, 0x727a));
        assertTrue(isKnown(architecture, 0x7810));
    }

    private static boolean isKnown(Architecture architecture, long low) {
        try {
            SectionFlow.of(architecture, new long[] {low, CONTROL, CodeWords.EXIT, CONTROL | 0x03800000L}, new BitSet());
            return true;
        } catch (MachineCodeException e) {
            return false;
        }
    }

    /** {@code LEPC R14}, then the return address and the place of LEPC as constants, then {@code CALL.ABS R2}: both move. */
    @Test
    void theConstantsBehindLepcMove() throws MachineCodeException {
        CodeWords code = new CodeWords(Architecture.SM_80).load(0, 4).add(0x00000000000e734eL, CONTROL).move(9, 0x50).move(20, 0x10)
                .add(0x0000000002007343L, CONTROL | 0x03c00000L).exit();
        byte[] fenced = CubinFencer.fence(cubin(Architecture.SM_80, code), MachineFences.MASK).bytes();
        long[] words = words(fenced);
        int place = indexOf(words, 0x34e);
        int call = indexOf(words, 0x343);
        assertTrue(place > 1);
        assertEquals((call + 1) * 16, InstructionWord.immediate(words[2 * (place + 1)]));
        assertEquals(place * 16, InstructionWord.immediate(words[2 * (place + 2)]));
        CodeWords without = new CodeWords(Architecture.SM_80).add(0x00000000000e734eL, CONTROL).move(9, 0x50)
                .add(0x0000000002007343L, CONTROL | 0x03c00000L).exit();
        assertEquals("a LEPC whose return address is not found at offset 0x0", refusal(Architecture.SM_80, without, MachineFences.MASK));
    }

    private static int indexOf(long[] words, int key) {
        return IntStream.range(0, words.length / 2).filter(i -> InstructionWord.key(words[2 * i], words[2 * i + 1]) == key).findFirst().orElseThrow();
    }

    /** {@code SEL R4, R4, c[0x0][0x18], P0} takes the start of the shared space as an operand. */
    @Test
    void constantsAreOperands() throws MachineCodeException {
        CodeWords shared = new CodeWords(Architecture.SM_80).add(0x0000060004047a07L, CONTROL).add(0x0000000402027980L, 0x000ea2000c101900L).exit();
        assertEquals("generic accesses to shared or local memory", refusal(Architecture.SM_80, shared, MachineFences.MASK));
        CodeWords parameter = new CodeWords(Architecture.SM_80).add(0x0000580004047a07L, CONTROL).add(0x0000000402027980L, 0x000ea2000c101900L)
                .exit();
        assertNull(refusal(Architecture.SM_80, parameter, MachineFences.MASK));
    }

    /** On sm_90 their latency is fixed; before, a scoreboard says when they are over. */
    @Test
    void doublesNeedTheirScoreboard() throws MachineCodeException {
        // DADD R2, R2, R2 without a scoreboard, then a fence of R3.
        CodeWords code = new CodeWords(Architecture.SM_80).add(0x0000000002027229L, 0x000fe20000000002L).load(0, 2).exit();
        FencedCubin fenced = CubinFencer.fence(cubin(Architecture.SM_80, code), MachineFences.MASK);
        assertEquals(Map.of(), CubinVerifier.verify(fenced.bytes(), MachineFences.MASK));
        assertEquals(5, InstructionWord.writeScoreboard(words(fenced.bytes())[2 * indexOf(words(fenced.bytes()), 0x229) + 1]), "it gets one");
    }
}
