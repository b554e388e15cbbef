package io.tessera.guardian.machine.verify;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.machine.code.Architecture;
import io.tessera.guardian.machine.VerifiedCubin;
import io.tessera.guardian.machine.CalledFunctions;
import io.tessera.guardian.machine.CodeWords;
import io.tessera.guardian.machine.CubinBuilder;
import io.tessera.guardian.machine.FunctionReport;
import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.MachineFences;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A function's result counts for those that may call it, and for no others. */
class TrustOfCallersTest {
    private static final int CALL = 0x4b;
    private static final int ABSOLUTE_CALL = 0x3a;
    private static final MachineFence MASK = MachineFences.MASK;
    private static final String RETURN = "a RET by a register at offset 0x0";
    /** {@code CALL.ABS.NOINC R4}. */
    private static final long CALL_REGISTER = 0x0000000004007343L;
    private static final long CALL_HIGH = 0x000fea0003c00000L;

    private static CodeWords calls() {
        return new CodeWords().callSymbol().exit();
    }

    private static CodeWords returns() {
        return new CodeWords().returnBy(20);
    }

    private static VerifiedCubin inspect(CubinBuilder builder) throws MachineCodeException {
        return CubinVerifier.inspect(builder.build(), MASK);
    }

    @Test
    void aKernelHasOnTrustWhatTheFunctionsHaveThatItCalls() throws MachineCodeException {
        VerifiedCubin seen = inspect(CubinBuilder.of("k", calls()).kernel("l", 29, new CodeWords().exit()).function("f", 29, calls())
                .function("g", 29, returns()).relocation("k", 0, CALL, 3, 0).relocation("f", 0, CALL, 4, 0));
        assertEquals(Map.of(), seen.refused());
        assertEquals(Map.of("g", RETURN), seen.trusted());
        assertEquals(Map.of("k", Set.of("f"), "f", Set.of("g")), seen.calls().named());
        assertEquals(Map.of("k", "function g, which it may call, has " + RETURN, "f", "function g, which it may call, has " + RETURN, "g", RETURN),
                seen.takenOnTrust(), "l calls nothing");
    }

    @Test
    void functionsThatCallEachOtherAreFollowedOnce() throws MachineCodeException {
        VerifiedCubin seen = inspect(CubinBuilder.of("k", calls()).function("f", 29, calls()).function("g", 29, calls())
                .relocation("k", 0, CALL, 2, 0).relocation("f", 0, CALL, 3, 0).relocation("g", 0, CALL, 2, 0));
        assertEquals(Map.of(), seen.takenOnTrust());
        assertTrue(seen.isShown());
    }

    @Test
    void whoCallsWhatHasNoFenceHasNoneAlsoIfItIsAKernel() throws MachineCodeException {
        VerifiedCubin seen = inspect(CubinBuilder.of("k", calls()).kernel("open", 29, new CodeWords().load(12, 2).exit())
                .kernel("l", 29, new CodeWords().exit()).relocation("k", 0, CALL, 2, 0));
        assertEquals(Set.of("open"), seen.refused().keySet());
        Map<String, String> unfenced = seen.unfenced(List.of());
        assertEquals(Set.of("k", "open"), unfenced.keySet());
        assertEquals("function open has no fence: " + seen.refused().get("open"), unfenced.get("k"));
    }

    @Test
    void whatTheFencerLeftHasNoFenceWhateverIsSeen() throws MachineCodeException {
        VerifiedCubin seen = inspect(CubinBuilder.of("k", calls()).function("f", 29, new CodeWords().exit()).relocation("k", 0, CALL, 2, 0));
        List<FunctionReport> reports = List.of(new FunctionReport("k", true, true, null, 0, 0, 0, false),
                new FunctionReport("f", false, false, "a reason", 0, 0, 0, false));
        assertEquals(Map.of("f", "a reason", "k", "function f has no fence: a reason"), seen.unfenced(reports));
    }

    @Test
    void aCallByARegisterMayReachEveryFunction() throws MachineCodeException {
        VerifiedCubin seen = inspect(CubinBuilder.of("k", new CodeWords().add(CALL_REGISTER, CALL_HIGH).exit())
                .kernel("open", 29, new CodeWords().load(12, 2).exit()).function("f", 29, returns()));
        assertEquals(Set.of("k"), seen.calls().byRegister());
        assertEquals("a CALL by a register at offset 0x0", seen.trusted().get("k"));
        assertEquals(Set.of("open"), seen.unfenced(List.of()).keySet(), "a kernel's address is in no compiled code");
        List<FunctionReport> left = List.of(new FunctionReport("f", false, false, "a reason", 0, 0, 0, false));
        assertEquals("function f has no fence: a reason", seen.unfenced(left).get("k"));
    }

    /** The report of an assertion, and behind it the call of a function by a relocation or by a register. */
    private static CubinBuilder reported(MachineFence fence, CodeWords behind) {
        CodeWords code = new CodeWords().move(0, 0x1000).waiting(0x3f).move(1, 0x2000).move(2, fence.reported(MachineFence.ASSERTION))
                .add(ReportSequence.STORE | 0x7000, ReportSequence.STORE_HIGH | 1L << 41 | 0x3fL << 46)
                .add(ReportSequence.EXIT | 0x7000, ReportSequence.EXIT_HIGH | 5L << 41 | 0x3fL << 46);
        for (int i = 0; i < behind.words().length; i += 2) {
            code.add(behind.words()[i], behind.words()[i + 1]);
        }
        return CubinBuilder.of("k", code).function("driver", 29, new CodeWords().exit());
    }

    /** Function {@code driver} becomes one that is not in the cubin. */
    private static byte[] external(byte[] cubin) {
        ByteBuffer words = ByteBuffer.wrap(cubin).order(ByteOrder.LITTLE_ENDIAN);
        int at = new String(cubin, StandardCharsets.ISO_8859_1).indexOf("driver\0");
        assertTrue(at > 0);
        int headers = (int) words.getLong(0x28);
        int symbols = (int) words.getLong(headers + 64 * 3 + 24);
        words.putShort(symbols + 2 * 24 + 6, (short) 0);
        return cubin;
    }

    @Test
    void whatTheDriversFunctionsDoIsTakenOnTrust() throws MachineCodeException {
        CubinBuilder builder = CubinBuilder.of("k", calls()).function("driver", 29, new CodeWords().exit()).relocation("k", 0, CALL, 2, 0);
        assertEquals(Map.of(), inspect(builder).trusted());
        VerifiedCubin seen = CubinVerifier.inspect(external(builder.build()), MASK);
        assertEquals(Map.of(), seen.refused());
        assertEquals(Map.of("k", "a call of the driver's driver at offset 0x0"), seen.trusted());
    }

    /** Before sm_90 calls of other sections have another type of relocation. */
    @Test
    void callsBeforeSm90AreFollowedToo() throws MachineCodeException {
        CodeWords code = new CodeWords(Architecture.SM_80).callSymbol().exit();
        CubinBuilder builder = new CubinBuilder(CubinBuilder.CUDA_13, 80).kernel("k", 29, code)
                .function("driver", 29, new CodeWords(Architecture.SM_80).exit())
                .relocation("k", 0, ABSOLUTE_CALL, 2, 0);
        assertEquals(Map.of("k", Set.of("driver")), inspect(builder).calls().named());
        VerifiedCubin seen = CubinVerifier.inspect(external(builder.build()), MASK);
        assertEquals(Map.of("k", "a call of the driver's driver at offset 0x0"), seen.trusted());
    }

    @Test
    void aCallThatNoThreadComesToDoesNotCount() throws MachineCodeException {
        MachineFence fence = MASK.reporting(0x2000_0000_1000L, 5);
        assertEquals(Map.of(), CubinVerifier.inspect(external(reported(fence, calls()).relocation("k", 0x50, CALL, 2, 0).build()), fence).trusted());
        VerifiedCubin register = CubinVerifier.inspect(reported(fence, new CodeWords().add(CALL_REGISTER, CALL_HIGH).exit()).build(), fence);
        assertEquals(Map.of(), register.refused());
        assertEquals(Map.of(), register.trusted());
        assertEquals(Set.of(), register.calls().byRegister());
    }

    @Test
    void aCallBehindAReportCountsIfSomethingElseLeadsToIt() throws MachineCodeException {
        MachineFence fence = MASK.reporting(0x2000_0000_1000L, 5);
        CodeWords loop = new CodeWords().callSymbol().branch(0).exit();
        assertEquals("a call of the driver's driver at offset 0x50", CubinVerifier
                .inspect(external(reported(fence, loop).relocation("k", 0x50, CALL, 2, 0).build()), fence).trusted().get("k"));
        CodeWords other = new CodeWords().callSymbol().under(1).exit();
        assertEquals("a call of the driver's driver at offset 0x50", CubinVerifier
                .inspect(external(reported(fence, other).relocation("k", 0x50, CALL, 2, 0).build()), fence).trusted().get("k"),
                "under another predicate");
        assertNull(CubinVerifier.inspect(reported(fence, calls()).relocation("k", 0x50, CALL, 2, 0).build(), fence).trusted().get("k"));
    }

    /** Any cubin may have a million functions. */
    @Test
    @Timeout(30)
    void theTimeGrowsWithTheCalls() {
        int count = 100_000;
        Map<String, Set<String>> chain = new HashMap<>();
        Set<String> functions = new HashSet<>();
        for (int i = 0; i < count; i++) {
            chain.put("f" + i, Set.of("f" + (i + 1)));
            functions.add("f" + i);
        }
        assertEquals(Set.of(), new CalledFunctions(chain, Set.of(), Set.of()).recursive(), "a chain of calls ends");
        Map<String, String> said = new CalledFunctions(chain, functions, functions).handOn(Map.of("f" + count, "a reason"), ": ");
        assertEquals(count + 1, said.size());
        assertEquals("function f" + count + ": a reason", said.get("f0"));
    }

    /** A name may have any bytes, and appears in the finding of each caller. */
    @Test
    void namesOfAFileArePrintableAndShortInWhatIsSaid() throws MachineCodeException {
        String name = "f\33[2J\n" + "x".repeat(100_000);
        VerifiedCubin seen = inspect(CubinBuilder.of("k", calls()).function(name, 29, returns()).relocation("k", 0, CALL, 2, 0));
        assertTrue(seen.takenOnTrust().get("k").startsWith("function f?[2J?xxx"), seen.takenOnTrust().get("k"));
        assertTrue(seen.takenOnTrust().get("k").length() < 500);
        assertEquals("f?[2J?xx...", new MachineCodeException(name).getMessage().replaceAll("x+", "xx"));
    }

    private static final MachineFence LOW_WORD = MachineFences.LOW_WORD;
    private static final String SHARED = "the window's base in uniform registers, which other functions may change";

    private static CodeWords stores() {
        return new CodeWords().moveUniform(7, LOW_WORD.baseHigh()).loadByBase(12, 2, 6).exit();
    }

    /** Threads of a warp that have parted share uniform registers: one may change the base in k while another one loads by it in f. */
    @Test
    void anotherSectionMayChangeTheBase() throws MachineCodeException {
        CodeWords changes = new CodeWords().callSymbol().under(1).moveUniform(7, 0x7f00).branch(1).exit();
        VerifiedCubin function = CubinVerifier
                .inspect(CubinBuilder.of("k", changes).function("f", 29, stores()).relocation("k", 0, CALL, 2, 0).build(), LOW_WORD);
        assertEquals(Map.of(), function.refused());
        assertEquals(Map.of("f", SHARED), function.trusted());
        assertEquals(Set.of("f", "k"), function.takenOnTrust().keySet());
        VerifiedCubin kernel = CubinVerifier
                .inspect(CubinBuilder.of("k", changes).kernel("f", 29, stores()).relocation("k", 0, CALL, 2, 0).build(), LOW_WORD);
        assertEquals(Map.of("f", SHARED), kernel.trusted(), "a kernel that is called, too");
        CodeWords calls = new CodeWords().moveUniform(7, LOW_WORD.baseHigh()).loadByBase(12, 2, 6).callSymbol().waiting(0x3f)
                .moveUniform(7, LOW_WORD.baseHigh()).branch(1).exit();
        VerifiedCubin caller = CubinVerifier.inspect(
                CubinBuilder.of("k", calls).function("f", 29, new CodeWords().moveUniform(7, 1).exit()).relocation("k", 0x20, CALL, 2, 0).build(),
                LOW_WORD);
        assertEquals(Map.of(), caller.refused());
        assertEquals(Map.of("k", SHARED), caller.trusted());
        assertTrue(CubinVerifier.inspect(CubinBuilder.of("k", stores()).kernel("f", 29, stores()).build(), LOW_WORD).isShown());
    }

    @Test
    void callsInACircleAreFound() {
        Map<String, Set<String>> named = Map.of("k", Set.of("f", "g"), "f", Set.of("g"), "g", Set.of("f", "h"), "l", Set.of("h"), "i", Set.of("i"));
        assertEquals(Set.of("k", "f", "g", "i"), new CalledFunctions(named, Set.of(), Set.of()).recursive());
    }
}
