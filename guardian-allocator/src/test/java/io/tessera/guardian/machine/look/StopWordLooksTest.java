package io.tessera.guardian.machine.look;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.machine.CodeWords;
import io.tessera.guardian.machine.CubinBuilder;
import io.tessera.guardian.machine.FencedCubin;
import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.VerifiedCubin;
import io.tessera.guardian.machine.code.Architecture;
import io.tessera.guardian.machine.container.CodeReader;
import io.tessera.guardian.machine.container.Cubin;
import io.tessera.guardian.machine.fence.CubinFencer;
import io.tessera.guardian.machine.verify.CubinVerifier;
import io.tessera.guardian.machine.verify.ReportWords;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import java.util.stream.Stream;

/** Looks at the stop word: the fencer puts them in, the verifier takes them whole and nothing that is like them. */
class StopWordLooksTest {
    private static final long STOP = 0x7f12_3456_7000L;
    private static final long OTHER_STOP = 0x7e00_0000_0004L;
    private static final long REPORTS = 0x7f00_0000_0a00L;
    private static final int LDG = 0x7981;
    /** A relocation that writes the lower half of an address into a constant. */
    private static final int HALF_OF_ADDRESS = 56;

    static Stream<MachineFence> fences() {
        return Stream.of(MachineFence.of(0x2000_0000_0000L, 1L << 32), MachineFence.of(0x2040_0000_0000L, 1L << 37))
                .map(fence -> fence.reporting(REPORTS, 5).looking(STOP));
    }

    /** Waits for a word in memory: it loads R4 again in each round, which is where it may look. */
    private static CubinBuilder spinning() {
        return CubinBuilder.of("k", new CodeWords().load(4, 2).compare(0, 4, 5).branch(0).under(0).store(2, 4).exit());
    }

    private static Cubin read(byte[] bytes) throws Exception {
        return Cubin.read(bytes);
    }

    private static long[] code(byte[] bytes) throws Exception {
        return CodeReader.words(read(bytes).code().getFirst());
    }

    /** The place of the load of the stop word. */
    private static int load(long[] code) {
        for (int i = 2; i < code.length / 2; i++) {
            if ((code[2 * i] & 0xffff) == LDG && (code[2 * i] >>> 24 & 0xff) == 0xff && (code[2 * i - 2] & 0xffff) == 0x7882) {
                return i;
            }
        }
        throw new AssertionError("no look");
    }

    private static byte[] changed(byte[] cubin, int word, long bits) throws Exception {
        byte[] other = cubin.clone();
        ByteBuffer words = ByteBuffer.wrap(other).order(ByteOrder.LITTLE_ENDIAN);
        int at = (int) read(cubin).code().getFirst().offset() + word * Long.BYTES;
        words.putLong(at, words.getLong(at) ^ bits);
        return other;
    }

    @ParameterizedTest
    @MethodSource("fences")
    void aLoopThatWaitsLooks(MachineFence fence) throws Exception {
        FencedCubin fenced = CubinFencer.fence(spinning().build(), fence);
        VerifiedCubin seen = CubinVerifier.inspect(fenced.bytes(), fence);
        assertEquals(Map.of(), seen.refused());
        assertEquals(Map.of(), seen.trusted());
        assertEquals(Map.of(), seen.mayBeEndless());
        assertTrue(fenced.functions().getFirst().inserted() >= LookWords.COUNT + 2);
        assertEquals(Map.of("k", "a fence without a stop word"),
                CubinVerifier.inspect(CubinFencer.fence(spinning().build(), fence.looking(0)).bytes(), fence.looking(0)).mayBeEndless());
    }

    /** A look that counts too few of its rounds is too seldom; one that counts less than any look may is none. */
    @ParameterizedTest
    @MethodSource("fences")
    void aLookHasTheStepThatItsLoopNeeds(MachineFence fence) throws Exception {
        CodeWords waits = new CodeWords();
        for (int i = 0; i < 64; i++) {
            waits.load(4, 2);
        }
        byte[] fenced = CubinFencer.fence(CubinBuilder.of("k", waits.compare(0, 4, 5).branch(0).under(0).store(2, 4).exit()).build(), fence).bytes();
        assertEquals(Map.of(), CubinVerifier.inspect(fenced, fence).mayBeEndless());
        long[] code = code(fenced);
        int sum = 0;
        while ((code[2 * sum] & 0xfff) != 0x890 || code[2 * sum] >>> 32 != 16L * LookWords.STEP) {
            sum++;
        }
        for (long step : new long[] {LookWords.STEP, 15L * LookWords.STEP, 1, 0x8000_0001L}) {
            byte[] seldom = changed(fenced, 2 * sum, (step ^ 16L * LookWords.STEP) << 32);
            String why = CubinVerifier.inspect(seldom, fence).mayBeEndless().get("k");
            assertNotNull(why, "step " + step);
            assertEquals(step >= LookWords.STEP && step <= 1L << 31, why.contains("looks too seldom"), why);
        }
        byte[] often = changed(fenced, 2 * sum, (32L ^ 16L) * LookWords.STEP << 32);
        assertEquals(Map.of(), CubinVerifier.inspect(often, fence).mayBeEndless());
    }

    /** Every bit of a look that is not control makes it another instruction: then it is no look, and its load is an access like any other. */
    @ParameterizedTest
    @MethodSource("fences")
    void aLookThatWasChangedIsNone(MachineFence fence) throws Exception {
        byte[] fenced = CubinFencer.fence(spinning().build(), fence).bytes();
        int load = load(code(fenced));
        for (int i = load - LookWords.LOAD; i < load - LookWords.LOAD + LookWords.COUNT; i++) {
            for (int bit = 0; bit < 64 + 41; bit++) {
                byte[] changed = changed(fenced, 2 * i + bit / 64, 1L << bit % 64);
                VerifiedCubin seen = CubinVerifier.inspect(changed, fence);
                boolean register = i == load && bit >= 16 && bit < 24;
                assertFalse(seen.refused().isEmpty() && seen.mayBeEndless().isEmpty() && !register, "instruction " + i + " bit " + bit);
                // Another instruction, perhaps one that reaches no global memory; or one by the window's base.
                boolean other = i == load && (bit < 12 || bit >= 32 && bit < 38);
                if (i < load || i == load && !register && !other) {
                    assertEquals(1, seen.refused().size(), "its load goes elsewhere: instruction " + i + " bit " + bit);
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("fences")
    void aLookOfAnotherProgramIsRefused(MachineFence fence) throws Exception {
        byte[] fenced = CubinFencer.fence(spinning().build(), fence).bytes();
        assertEquals(1, CubinVerifier.verify(fenced, fence.looking(OTHER_STOP)).size());
        assertEquals(1, CubinVerifier.verify(fenced, fence.looking(0)).size());
    }

    @ParameterizedTest
    @MethodSource("fences")
    void aLookWithoutWaitingIsNone(MachineFence fence) throws Exception {
        byte[] fenced = CubinFencer.fence(spinning().build(), fence).bytes();
        int load = load(code(fenced));
        for (int word : new int[] {2 * (load + 1) + 1, 2 * (load - LookWords.LOAD) + 1}) {
            byte[] other = changed(fenced, word, 1L << 52);
            assertEquals(1, CubinVerifier.verify(other, fence).size(), "a wait is missing");
        }
        assertEquals(1, CubinVerifier.verify(changed(fenced, 2 * (load - 1) + 1, 8L << 41), fence).size(), "the address is used too early");
        byte[] early = changed(changed(fenced, 2 * (load - 2) + 1, (2L ^ 11) << 41), 2 * (load - 1) + 1, (8L ^ 1) << 41);
        assertEquals(1, CubinVerifier.verify(early, fence).size(), "its upper half is used too early");
    }

    /** A loader that adds something to the address of the stop word has the look load another one. */
    @ParameterizedTest
    @MethodSource("fences")
    void aLookIsNotWritten(MachineFence fence) throws Exception {
        long[] code = code(CubinFencer.fence(spinning().build(), fence).bytes());
        CodeWords words = new CodeWords();
        for (int i = 0; i < code.length; i += 2) {
            words.add(code[i], code[i + 1]);
        }
        assertEquals(Map.of(), CubinVerifier.verify(CubinBuilder.of("k", words).build(), fence));
        for (int move = load(code) - LookWords.LOAD + LookWords.ADDRESS; move < load(code); move++) {
            byte[] written = CubinBuilder.of("k", words).section(".nv.global", 8, 3, new byte[64]).variable("v", ".nv.global", 0, 64, 0)
                    .relocation("k", 16 * move, HALF_OF_ADDRESS, 2, 0x1000).build();
            assertEquals(Map.of("k", "a relocation that may change a look at the stop word at offset 0x" + Integer.toHexString(16 * move)),
                    CubinVerifier.verify(written, fence));
        }
    }

    /** A branch into a look could have other numbers in its registers. */
    @ParameterizedTest
    @MethodSource("fences")
    void nothingElseLeadsIntoALook(MachineFence fence) throws Exception {
        byte[] fenced = CubinFencer.fence(spinning().build(), fence).bytes();
        long[] code = code(fenced);
        int load = load(code);
        int branch = 0;
        while ((code[2 * branch] & 0xfff) != 0x947) {
            branch++;
        }
        long distance = (long) (load - branch - 1) * 16;
        long low = Architecture.SM_90.withDistanceLow(code[2 * branch], distance);
        byte[] other = changed(changed(fenced, 2 * branch, low ^ code[2 * branch]), 2 * branch + 1,
                Architecture.SM_90.withDistanceHigh(code[2 * branch + 1], distance) ^ code[2 * branch + 1]);
        assertEquals(1, CubinVerifier.verify(other, fence).size());
    }

    /** {@code R2UR} into the address of the stop word, by another thread of the warp: then the load goes elsewhere. */
    @ParameterizedTest
    @MethodSource("fences")
    void nothingElseWritesTheRegistersOfLooks(MachineFence fence) throws Exception {
        byte[] fenced = CubinFencer
                .fence(CubinBuilder.of("k", new CodeWords().toUniform(4, 9).load(4, 2).compare(0, 4, 5).branch(1).under(0).exit()).build(), fence)
                .bytes();
        long[] code = code(fenced);
        int address = (int) (code[2 * load(code)] >>> 32) & 0x3f;
        int other = 0;
        while ((code[2 * other] & 0xfff) != 0x2ca) {
            other++;
        }
        assertEquals(Map.of(), CubinVerifier.verify(fenced, fence));
        for (int uniform = address; uniform < address + LookWords.UNIFORMS; uniform++) {
            VerifiedCubin seen = CubinVerifier.inspect(changed(fenced, 2 * other, (long) (4 ^ uniform) << 16), fence);
            assertEquals(1, seen.refused().size(), "UR" + uniform);
            assertNotNull(seen.mayBeEndless().get("k"));
        }
    }

    @ParameterizedTest
    @MethodSource("fences")
    void theStopWordMayBeAnotherOneAtALaterStart(MachineFence fence) throws Exception {
        byte[] first = CubinFencer.fence(spinning().build(), fence).bytes();
        List<Integer> places = ReportWords.find(first, fence);
        assertEquals(1, places.size());
        ReportWords.change(first, places, fence, fence.looking(OTHER_STOP));
        assertArrayEquals(CubinFencer.fence(spinning().build(), fence.looking(OTHER_STOP)).bytes(), first);
    }

    /** A register that is needed everywhere is no place for the word. */
    @ParameterizedTest
    @MethodSource("fences")
    void aLoopThatHasNoRegisterForItIsNamed(MachineFence fence) throws Exception {
        CodeWords full = new CodeWords();
        for (int register = 6; register < 30; register++) {
            full.move(register, register);
        }
        full.compare(0, 4, 5).branch(24).under(0);
        for (int register = 0; register < 30; register++) {
            full.store(2, register);
        }
        byte[] cubin = new CubinBuilder(CubinBuilder.CUDA_13, 90).kernel("k", 32, full.exit()).build();
        VerifiedCubin seen = CubinVerifier.inspect(CubinFencer.fence(cubin, fence).bytes(), fence);
        assertEquals(Map.of(), seen.refused());
        assertTrue(seen.mayBeEndless().get("k").startsWith("a loop that does not look at the stop word"), seen.mayBeEndless().toString());
    }

    /** The words are ptxas's for {@code __syncthreads()}, {@code bar.sync 3}, {@code r}; then with a count of threads, in the instruction or a register. */
    @ParameterizedTest
    @CsvSource({"0x0000000000007b1d, false", "0x00c0000000007b1d, false", "0x000000020000751d, false", "0x00c1000000007b1d, true",
            "0x000100020000751d, true", "0x000000030000731d, true", "0x00c000020000791d, true"})
    void whoHasEndedDoesNotArriveAtABarrierWithACount(String low, boolean waits) throws Exception {
        MachineFence fence = MachineFence.of(0x2000_0000_0000L, 1L << 32).reporting(REPORTS, 5).looking(STOP);
        CodeWords code = new CodeWords().add(Long.decode(low), 0x000fec0000010000L).load(4, 2).compare(0, 4, 5).branch(0).under(0).exit();
        Map<String, String> endless = CubinVerifier.inspect(CubinFencer.fence(CubinBuilder.of("k", code).build(), fence).bytes(), fence)
                .mayBeEndless();
        assertEquals(waits, endless.getOrDefault("k", "").startsWith("a barrier for a number of threads"), endless.toString());
    }

    /** {@code while (true);} is a branch to itself, in a kernel that names no register but R1, the stack, which a constant fills. */
    @ParameterizedTest
    @MethodSource("fences")
    void aLoopOfNothingLooks(MachineFence fence) throws Exception {
        byte[] cubin = new CubinBuilder(CubinBuilder.CUDA_13, 90)
                .kernel("k", 4, new CodeWords().add(0x00000a00ff017b82L, 0x000fe20000000800L).branch(1).exit()).build();
        VerifiedCubin seen = CubinVerifier.inspect(CubinFencer.fence(cubin, fence).bytes(), fence);
        assertEquals(Map.of(), seen.refused());
        assertEquals(Map.of(), seen.mayBeEndless());
    }
}
