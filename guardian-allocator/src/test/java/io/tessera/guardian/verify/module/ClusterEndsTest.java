package io.tessera.guardian.verify.module;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.module.Fencer;
import io.tessera.guardian.ptx.parse.PtxParser;
import io.tessera.guardian.verify.Mode;
import io.tessera.guardian.verify.Verdict;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
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
            @%p1 bra out;
            mov.u32 %r4, %dynamic_smem_size;
            add.u32 %r4, %r4, 4;
            st.shared.u32 [%r4], %r3;
            out:
            ret;
            }
            """;
    private static final String WAITED = "@%__tessera_end_pending0 barrier.cluster.wait;\\s+mov.pred \t%__tessera_end_pending0, 0;\\s+";

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
        assertTrue(FenceVerifier.verify(GridLooks.bytes(text), Mode.MASK, false).waits());
    }

    /** Every instruction of a kernel's start and end, and of a function's end: left out, made twice, and after the next one. */
    @ParameterizedTest
    @ValueSource(strings = {"k", "f"})
    void eachInstructionIsNeeded(String function) throws Exception {
        List<String> lines = new ArrayList<>(text.lines().toList());
        int head = 0;
        while (!lines.get(head).contains(" " + function + "(") || lines.get(head).endsWith(";")) {
            head++;
        }
        int tried = 0;
        boolean inside = function.equals("k");
        for (int n = head; !lines.get(n).equals("}"); n++) {
            String line = lines.get(n);
            inside |= line.contains("__tessera_end_all:");
            if (inside && line.endsWith(";") && !line.contains(".reg") && !line.contains(".shared .align") && !line.contains("__tessera_end_all")) {
                List<String> without = new ArrayList<>(lines);
                without.remove(n);
                assertEquals(Set.of("k"), rejected(String.join("\n", without)), line);
                List<String> twice = new ArrayList<>(lines);
                twice.add(n, line);
                assertEquals(Set.of("k"), rejected(String.join("\n", twice)), line);
                if (lines.get(n + 1).endsWith(";")) {
                    List<String> swapped = new ArrayList<>(lines);
                    Collections.swap(swapped, n, n + 1);
                    assertEquals(Set.of("k"), rejected(String.join("\n", swapped)), line);
                }
                tried++;
            }
            inside &= !line.contains("__tessera_end_begun_0:");
        }
        assertTrue(tried > (function.equals("k") ? 44 : 27), "tried " + tried);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "_r1, 1;                                       | _r1, 2;",
            "%cluster_nctarank;                            | %cluster_ctarank;",
            "%tid.y;                                       | %ntid.y;",
            "__tessera_end_r3, 8;                          | __tessera_end_r3, 16;",
            "__tessera_end_r3, -8;                         | __tessera_end_r3, -4;",
            "st.shared.u64                                 | st.shared.u32",
            "(st.shared.u64[^;]*), 0;                      | $1, 1;",
            "fence.acq_rel.cluster;                        | fence.acq_rel.cta;",
            "atom.acq_rel.cluster.shared.add.u32           | atom.relaxed.cluster.shared.add.u32",
            "(atom.acq_rel[^;]*), 1;                       | $1, 2;",
            "red.release.cluster                           | red.relaxed.cluster",
            "(red.release[^;]*r3)\\+4                      | $1+0",
            "ld.acquire.cluster                            | ld.relaxed.cluster",
            "ld.acquire([^;]*)r0\\+4                       | ld.acquire$1r3+4",
            "setp.eq.u32 (\\s+%__tessera_end_p0, %__tessera_end_r3, %__tessera_end_r1) | setp.ge.u32 $1",
            "bra \t__tessera_end_round_\\d                 | bra \t__tessera_end_all",
            "bra \t__tessera_end_begun_0                   | bra \t__tessera_end_all",
            "@%__tessera_end_p0 bra \t__tessera_end_count  | @!%__tessera_end_p0 bra \t__tessera_end_count"
    })
    void eachWordOfThemCounts(String what, String by) throws Exception {
        isRejected(what, by);
    }

    /** Another end, and a way around a start or into one. */
    @Test
    void endsThatDoNotWait() throws Exception {
        isRejected("@(%p\\d+) bra \t__tessera_end_all;", "@$1 exit;");
        isRejected("\tbra \t__tessera_end_all;", "\tret;");
        isRejected("(setp.eq.u32[^;]*7;)", "$1 @%p0 bra __tessera_end_count_1;");
        isRejected("(setp.eq.u32[^;]*7;)", "$1 @%p0 bra __tessera_end_round_2;");
        isRejected("(\\.entry[^{]*\\{)(?s)(.*?)(\tmov.pred)", "$1$2 again: $3");
        isRejected("(\\.entry[^{]*\\{)(?s)(.*?)(\tmov.pred)", "$1$2 nanosleep.u32 20; $3");
        isRejected("(?s)(bra \t__tessera_end_round_2;)\n}\\s*$", "$1\nnever: bra never;\n}\n");
    }

    /** Who has arrived is known where it has to be. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "WAITED(call)                                                            | $1",
            "WAITED(barrier.cluster.arrive.relaxed)                                  | $1",
            "(barrier.cluster.arrive.relaxed;)\\s+mov.pred \t%__tessera_end_pending0, 1; | $1",
            "(barrier.cluster.arrive.relaxed;)                                       | @%p0 $1",
            "(barrier.cluster.arrive.relaxed;)                                       | $1 $1",
            "(barrier.cluster.arrive.relaxed;)                                       | here: $1",
            "(barrier.cluster.arrive.relaxed;)(\\s+mov.pred)                          | $1 here: $2",
            "(barrier.cluster.arrive.relaxed;)                                       | mov.pred %__tessera_end_pending0, 1;",
            "@%__tessera_end_pending0 (barrier.cluster.wait.acquire;)                | $1",
            "@%__tessera_end_pending0 (barrier.cluster.wait.acquire;)                | @!%__tessera_end_pending0 $1",
            "@%__tessera_end_pending0 (barrier.cluster.wait.acquire;)                | @%p0 $1",
            "@%__tessera_end_pending0 barrier.cluster.wait.acquire;                  | ''",
            "(barrier.cluster.wait.acquire;)(\\s+mov.pred)                            | $1 here: $2",
            "(barrier.cluster.wait.acquire;)\\s+mov.pred[^;]*;                        | $1",
            "(barrier.cluster.wait.acquire;\\s+mov.pred[^;]*), 0;                     | $1, 1;",
            "(barrier.cluster.wait.acquire;\\s+mov.pred[^;]*;)                        | $1 mov.pred %__tessera_end_pending0, 0;",
            "(barrier.cluster.wait.acquire;\\s+mov.pred[^;]*;)                        | $1 not.pred %__tessera_end_pending0, %p0;",
            "(barrier.cluster.wait.acquire;\\s+mov.pred[^;]*;)                        | $1 mov.pred %p0, %__tessera_end_pending0;",
            "(barrier.cluster.wait.acquire;\\s+mov.pred[^;]*;)                        | $1 mov.u32 %__tessera_end_r0, 0;"
    })
    void whoHasArrivedIsKnown(String what, String by) throws Exception {
        isRejected(what.replace("WAITED", WAITED), by);
    }

    @Test
    void aBarrierInAFunctionThatIsCalled() throws Exception {
        isRejected("(\\.func[^{]*\\{(?s).*?)(\tret;)", "$1\tbarrier.cluster.arrive.relaxed;\n\tbarrier.cluster.wait.acquire;\n$2");
    }

    /** Shared addresses that are cut where dynamic memory ends, and not where the words begin. */
    @ParameterizedTest
    @ValueSource(strings = {"8", "15", "0"})
    void accessesThatMayComeToTheWords(String less) throws Exception {
        isRejected("(sub.u32 \t%__tessera_r\\d+, %__tessera_r\\d+), 16;", "$1, " + less + ";");
    }

    /** Without an access that reaches other blocks nothing needs to wait. */
    @Test
    void modulesThatReachNoOtherBlock() throws Exception {
        String own = TEXT.replace("ld.shared::cluster.u32 %r3, [%r2];", "ld.shared.u32 %r3, [s];");
        String fenced = Fencer.withoutProofs(FenceMode.MASK, false).fence(PtxParser.parse(own)).ptx();
        assertFalse(fenced.contains("__tessera_end"));
        assertEquals(Set.of(), rejected(fenced));
        assertFalse(FenceVerifier.verify(GridLooks.bytes(fenced), Mode.MASK, false).waits());
    }
}
