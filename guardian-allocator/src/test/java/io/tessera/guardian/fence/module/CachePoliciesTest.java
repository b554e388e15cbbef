package io.tessera.guardian.fence.module;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.ptx.parse.PtxParser;
import io.tessera.guardian.verify.Mode;
import io.tessera.guardian.verify.Verdict;
import io.tessera.guardian.verify.module.FenceVerifier;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Numbers that are no policy of the cache end the context on an H200 (error 715). */
class CachePoliciesTest {
    private static final String POINTER = "ld.param.u64 %d1, [p]; ";
    private static final String EVICT_LAST = "1508705875169116160";

    private static Verdict verdict(String ptx) throws Exception {
        return FenceVerifier.verify(ptx.getBytes(StandardCharsets.UTF_8), Mode.MASK, false);
    }

    private static String fenced(String statements) throws Exception {
        String fenced = new Fencer(FenceMode.MASK).fence(PtxParser.parse(Fences.kernel(POINTER + statements + "\nret;"))).ptx();
        Verdict verdict = verdict(fenced);
        assertTrue(verdict.whole(), () -> verdict.rejected() + fenced);
        return fenced;
    }

    @ParameterizedTest
    @ValueSource(strings = {"ld.global.u64 %d2, [%d1]; ", "mov.u64 %d2, 18446744073709551615; ",
            "mov.u64 %d2, 0x14F0000000000000; @%p1 mov.u64 %d2, 1; ", "createpolicy.fractional.L2::evict_last.b64 %d2, 0f3F000000; ",
            "createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %d2, [%d1], 1048576, 2097152; "})
    void anAccessLosesAPolicyThatIsNotKnown(String policy) throws Exception {
        String text = fenced(policy + "ld.global.L2::cache_hint.b64 %d3, [%d1], %d2; st.global.L2::cache_hint.b64 [%d1], %d3, %d2;"
                + " atom.global.add.L2::cache_hint.u32 %r1, [%d1], 1, %d2; red.global.add.L2::cache_hint.u32 [%d1], 1, %d2;"
                + " .shared .align 16 .b8 tile[64]; mov.u32 %r2, tile; cp.async.cg.shared.global.L2::cache_hint [%r2], [%d1], 16, %d2;");
        assertFalse(text.contains("cache_hint"), text);
        assertTrue(text.contains("cp.async.cg.shared.global"), text);
    }

    @ParameterizedTest
    @ValueSource(strings = {"mov.u64 %d2, 0x14F0000000000000; ", "createpolicy.fractional.L2::evict_last.b64 %d2, 0f3F800000; ",
            "createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %d2; "})
    void aKnownPolicyStaysAsANumber(String policy) throws Exception {
        String text = fenced(policy + "ld.global.L2::cache_hint.b64 %d3, [%d1], %d2;");
        assertTrue(text.contains("], " + EVICT_LAST + ";"), text);
    }

    /** A policy has 64 bits also where the access has fewer. */
    @ParameterizedTest
    @ValueSource(strings = {"st.global.L2::cache_hint.u32 [%d1], 7, ", "atom.global.add.L2::cache_hint.u32 %r1, [%d1], 1, ",
            "red.global.add.L2::cache_hint.u32 [%d1], 1, "})
    void aKnownPolicyStaysBesideOperandsOf32Bits(String access) throws Exception {
        String made = fenced("createpolicy.fractional.L2::evict_last.b64 %d2; " + access + "%d2;");
        String written = fenced(access + "0x14F0000000000000;");
        assertTrue(made.contains(", " + EVICT_LAST + ";"), made);
        assertTrue(written.contains(", " + EVICT_LAST + ";"), written);
    }

    @Test
    void theVerifierTakesNoOtherPolicy() throws Exception {
        String text = fenced("mov.u64 %d2, 0x14F0000000000000; st.global.L2::cache_hint.b64 [%d1], %d1, %d2;");
        for (String other : new String[] {"%rd0", "-1", "1508705875169116161"}) {
            Verdict verdict = verdict(text.replace(", " + EVICT_LAST + ";", ", " + other + ";"));
            assertEquals("[k]", verdict.rejected().keySet().toString(), other);
            assertTrue(verdict.rejected().get("k").getMessage().contains("cache policy"), () -> verdict.rejected().toString());
        }
    }
}
