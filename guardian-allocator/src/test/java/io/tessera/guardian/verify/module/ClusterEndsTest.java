package io.tessera.guardian.verify.module;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.module.Fencer;
import io.tessera.guardian.ptx.parse.PtxParser;
import io.tessera.guardian.verify.Mode;
import io.tessera.guardian.verify.Verdict;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Text in which a block could end while another one may reach into its shared memory. */
class ClusterEndsTest {
    private static final String TEXT = """
            .version 8.0
            .target sm_90
            .address_size 64
            .func f()
            {
            .reg .b32 %r<2>; .reg .pred %p<2>;
            mov.u32 %r1, %tid.x;
            setp.eq.u32 %p1, %r1, 5;
            @%p1 exit;
            ret;
            }
            .visible .entry k(.param .u64 p)
            {
            .reg .b32 %r<9>; .reg .pred %p<2>;
            .shared .align 8 .b8 s[64];
            mov.u32 %r1, s;
            mapa.shared::cluster.u32 %r2, %r1, 1;
            ld.shared::cluster.u32 %r3, [%r2];
            st.shared.u32 [s], %r3;
            setp.eq.u32 %p1, %r3, 7;
            call f;
            barrier.cluster.arrive.relaxed;
            @%p1 exit;
            barrier.cluster.wait.acquire;
            ret;
            }
            """;
    private static final String ONE = "@%__tessera_end_p0 barrier.cluster.arrive;\n\t@%__tessera_end_p0 barrier.cluster.wait;\n\t";
    private static final String PAIR = ONE + ONE;
    private static final String HELD = "setp.eq.u32 \t%__tessera_end_p0, %__tessera_end_r0, 0;\n\t" + PAIR;

    private String text;

    @BeforeEach
    void fence() throws Exception {
        text = Fencer.withoutProofs(FenceMode.MASK, false).fence(PtxParser.parse(TEXT)).ptx();
    }

    private static Set<String> rejected(String ptx) throws Exception {
        Verdict verdict = FenceVerifier.verify(GridLooks.bytes(ptx), Mode.MASK, false);
        return verdict.rejected().keySet();
    }

    private void isRejected(String what, String by) throws Exception {
        String changed = text.replaceFirst(what, by);
        assertFalse(changed.equals(text), () -> what + " is not in\n" + text);
        assertEquals(Set.of("k"), rejected(changed), () -> changed);
    }

    @Test
    void whatWaitsIsAccepted() throws Exception {
        assertEquals(Set.of(), rejected(text));
        assertTrue(text.contains(PAIR + "ret;"), text);
    }

    @ParameterizedTest
    @ValueSource(strings = {"ret", "exit"})
    void anEndWithoutBoth(String end) throws Exception {
        isRejected(PAIR + end + ";", end + ";");
        isRejected(PAIR + end + ";", "@%__tessera_end_p0 barrier.cluster.arrive;\n\t" + end + ";");
        isRejected(PAIR + end + ";", "@%__tessera_end_p0 barrier.cluster.wait;\n\t" + end + ";");
        isRejected(PAIR + end + ";", ONE + end + ";");
        isRejected("(?s)" + HELD + "(.*" + end + ";)", "$1");
    }

    /** P: the predicate; ARRIVE and WAIT: what is made under it. */
    @ParameterizedTest
    @ValueSource(strings = {"WAIT; ARRIVE;", "ARRIVE; mov.u32 %r1, 1; WAIT;", "ARRIVE; WAIT; mov.u32 %r1, 1;", "ARRIVE; here: WAIT;",
            "ARRIVE; WAIT; here:", "mov.u32 %r1, 1; ARRIVE; WAIT;", "@!P barrier.cluster.arrive; WAIT;", "ARRIVE; @!P barrier.cluster.wait;",
            "@%p0 barrier.cluster.arrive; WAIT;", "@%p0 barrier.cluster.arrive; @%p0 barrier.cluster.wait;",
            "@P barrier.cluster.arrive.relaxed; WAIT;",
            "WAIT; ARRIVE;", "ARRIVE; ARRIVE; WAIT;"})
    void anEndWithAnotherPair(String pair) throws Exception {
        isRejected(PAIR + "ret;", pair.replace("ARRIVE", "@P barrier.cluster.arrive").replace("WAIT", "@P barrier.cluster.wait")
                .replace("P ", "%__tessera_end_p0 ") + " ret;");
        isRejected(PAIR + "ret;", ONE + pair.replace("ARRIVE", "@P barrier.cluster.arrive").replace("WAIT", "@P barrier.cluster.wait")
                .replace("P ", "%__tessera_end_p0 ") + " ret;");
    }

    /** Who is the first thread of its block, and the fence before that. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "_r0, %tid.x;                 | _r0, %tid.y;", "_r1, %tid.y;                 | _r1, %tid.x;", "_r1, %tid.z; | _r1, %laneid;",
            "or.b32 \t%__tessera_end_r0  | and.b32 \t%__tessera_end_r0", "_p0, %__tessera_end_r0, 0;   | _p0, %__tessera_end_r0, 1;",
            "_p0, %__tessera_end_r0, 0;   | _p0, %__tessera_end_r1, 0;", "setp.eq.u32 \t%__tessera_end | setp.ne.u32 \t%__tessera_end",
            "setp.eq.and.u32              | setp.eq.or.u32", "_r0, 0, %p                   | _r0, 0, !%p", "_r0, %tid.x;  | _r0, %tid.x; here:",
            "fence.acq_rel.cluster;       | fence.acq_rel.cta;", "@%p\\d+ (fence.acq_rel.cluster;) | @!%p0 $1",
            "(fence.acq_rel.cluster;)     | $1 here:", "%cluster_nctarank; | %cluster_ctarank;", "_r1, 1; | _r1, 2;",
            "_r0, 1, %__tessera_end_r0 | _r0, 2, 1"
    })
    void anEndOfOtherThreads(String what, String by) throws Exception {
        isRejected(what, by);
    }

    /** The wait for what a thread has arrived at, before an exit under a guard. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "@%__tessera_end_p0 barrier.cluster.wait;\\s+(@%__tessera_end_p0 barrier.cluster.arrive;) | $1",
            "(setp.eq.u32[^;]*;\\s+call)                                                              | barrier.cluster.arrive; $1",
            "(barrier.cluster.arrive.relaxed;)                                                        | $1 barrier.cluster.arrive.relaxed;",
            "(barrier.cluster.arrive.relaxed;)                                                        | $1 barrier.cluster.wait;",
            "barrier.cluster.arrive.relaxed;                                                          | @%p0 barrier.cluster.arrive.relaxed;",
            "barrier.cluster.wait.acquire;                                                            | @%p0 barrier.cluster.wait.acquire;"
    })
    void arrivalsThatAreNotWaitedFor(String what, String by) throws Exception {
        isRejected(what, by);
    }

    /** A kernel that runs on to the end of its text ends there. */
    @Test
    void theEndOfTheText() throws Exception {
        isRejected("exit;\n}", "exit;\nnever:\n\tmov.u32 %r0, 1;\n}");
    }

    @Test
    void arrivalsOfTheProgram() throws Exception {
        String pair = "barrier.cluster.arrive.relaxed;\n\tbarrier.cluster.wait.acquire;\n\t";
        isRejected("(setp.eq.u32[^;]*;\\s+call)", pair + "$1");
        isRejected("(ld.shared::cluster)(?s)(.*)(call \tf;)", "again: $1$2$3\n\t" + pair + "@%p0 bra again;");
    }

    @Test
    void aBarrierInAFunctionThatIsCalled() throws Exception {
        isRejected("(\\.func[^{]*\\{(?s).*?)(\tret;)", "$1\tbarrier.cluster.arrive.relaxed;\n\tbarrier.cluster.wait.acquire;\n$2");
    }

    /** Without an access that reaches other blocks nothing needs to wait. */
    @Test
    void modulesThatReachNoOtherBlock() throws Exception {
        String own = TEXT.replace("ld.shared::cluster.u32 %r3, [%r2];", "ld.shared.u32 %r3, [s];");
        String fenced = Fencer.withoutProofs(FenceMode.MASK, false).fence(PtxParser.parse(own)).ptx();
        assertFalse(fenced.contains(PAIR));
        assertEquals(Set.of(), rejected(fenced));
    }
}
