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
    private String text;
    /** As above, without barriers. */
    private String plain;

    @BeforeEach
    void fence() throws Exception {
        text = fenced(TEXT);
        plain = fenced(TEXT.replaceAll("barrier.cluster.*;", ""));
    }

    private static String fenced(String ptx) throws Exception {
        return Fencer.withoutProofs(FenceMode.MASK, false).fence(PtxParser.parse(ptx)).ptx();
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
        for (String each : List.of(text, plain)) {
            assertEquals(Set.of(), rejected(each));
            assertTrue(FenceVerifier.verify(GridLooks.bytes(each), Mode.MASK, false).waits());
        }
    }

    /** Every instruction of starts, ends, arrivals and waits: left out, made twice, and after the next one. */
    @ParameterizedTest
    @CsvSource({"k,true,400", "f,true,60", "k,false,140", "f,false,30"})
    void eachInstructionIsNeeded(String function, boolean meets, int most) throws Exception {
        List<String> lines = new ArrayList<>((meets ? text : plain).lines().toList());
        int head = 0;
        while (!lines.get(head).contains(" " + function + "(") || lines.get(head).endsWith(";")) {
            head++;
        }
        int tried = 0;
        for (int n = head; !lines.get(n).equals("}"); n++) {
            String line = lines.get(n);
            boolean own = line.contains("__tessera_end") || line.contains(".cluster;") || line.contains("pragma") || line.contains("barrier.cluster");
            // A missing guard of an end makes an end of more threads, and a thread that has not arrived may be counted again.
            boolean harmless = line.contains("bra \t__tessera_end_skipped") || function.equals("f") && line.contains("mov.pred");
            if (!own || harmless || !line.endsWith(";") || line.contains(".reg")) {
                continue;
            }
            List<String> without = new ArrayList<>(lines);
            without.remove(n);
            assertEquals(Set.of("k"), rejected(String.join("\n", without)), line);
            List<String> twice = new ArrayList<>(lines);
            twice.add(n, line);
            if (!line.contains("fence")) { // before an end a second one is no part of it
                assertEquals(Set.of("k"), rejected(String.join("\n", twice)), line);
            }
            if (lines.get(n + 1).endsWith(";")) {
                List<String> swapped = new ArrayList<>(lines);
                Collections.swap(swapped, n, n + 1);
                assertEquals(Set.of("k"), rejected(String.join("\n", swapped)), line);
            }
            tried++;
        }
        assertTrue(tried > most, "tried " + tried);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "_r2, 1;                                       | _r2, 2;",
            "%cluster_nctarank;                            | %cluster_ctarank;",
            "%tid.y;                                       | %ntid.y;",
            "__tessera_end_r6, 16;                         | __tessera_end_r6, 24;",
            "__tessera_end_r6, -8;                         | __tessera_end_r6, -4;",
            "st.shared.u64                                 | st.shared.u32",
            "(st.shared.u64[^;]*), 0;                      | $1, 1;",
            "fence.acq_rel.cluster;                        | fence.acq_rel.cta;",
            "atom.acq_rel.cluster.shared.add.u32           | atom.relaxed.cluster.shared.add.u32",
            "(atom.acq_rel[^;]*), 1;                       | $1, 2;",
            "red.release.cluster                           | red.relaxed.cluster",
            "(red.release[^;]*r6)\\+4                      | $1+0",
            "ld.acquire.cluster                            | ld.relaxed.cluster",
            "ld.acquire([^;]*)r0\\+4                       | ld.acquire$1r6+4",
            "setp.eq.u32 (\\s+%__tessera_end_p0, %__tessera_end_r6, %__tessera_end_r2) | setp.ge.u32 $1",
            "(atom.relaxed[^;]*)\\+8(\\], 1;)              | $1+0$2",
            "(atom.relaxed[^;]*)\\+8(\\], 1;)              | $1+4$2",
            "(atom.relaxed[^;]*)\\+8(\\], %)               | $1$2",
            "(cas[^;]*)\\+8                                | $1+4",
            "(red.relaxed[^;]*)\\+12                       | $1+4",
            "(ld.relaxed[^;]*)\\+12                        | $1+4",
            "bra \t__tessera_end_each_\\d+                 | bra \t__tessera_end_last",
            "bra \t__tessera_end_look_\\d+                 | bra \t__tessera_end_last",
            "bra \t__tessera_end_not_\\d+                  | bra \t__tessera_end_last"
    })
    void eachWordOfThemCounts(String what, String by) throws Exception {
        isRejected(what, by);
    }

    /** Another end, and a way around a start or into what counts. */
    @Test
    void endsThatAreNotCounted() throws Exception {
        isRejected("(setp.eq.u32[^;]*7;)", "$1 @%p0 exit;");
        isRejected("(setp.eq.u32[^;]*7;)", "$1 @%p0 ret;");
        isRejected("\tbra \t__tessera_end_last;", "\texit;");
        for (String label : List.of("last", "each_7", "look_8", "waited_9", "over_10", "not_12")) {
            String found = text.lines().map(String::strip).filter(line -> line.matches("__tessera_end_" + label.replaceAll("\\d+", "\\\\d+") + ":"))
                    .reduce((_, last) -> last).orElseThrow();
            isRejected("(setp.eq.u32[^;]*7;)", "$1 @%p0 bra " + found.replace(":", ";"));
        }
        isRejected("(__tessera_end_last:)", "mov.u32 %r0, 0; $1");
        isRejected("(__tessera_end_last:)", "here: $1");
        isRejected("(\\.entry[^{]*\\{)(?s)(.*?)(\tmov.pred)", "$1$2 again: $3");
        isRejected("(\\.entry[^{]*\\{)(?s)(.*?)(\tmov.pred)", "$1$2 nanosleep.u32 20; $3");
        isRejected("(?s)(bra \t__tessera_end_look_\\d+;)\n}\\s*$", "$1\nnever: bra never;\n}\n");
    }

    /** No other instruction depends on the contents of these registers, and no thread reaches the device's barrier. */
    @ParameterizedTest
    @ValueSource(strings = {"mov.u32 %__tessera_end_r0, 0;", "mov.u32 %r0, %__tessera_end_r0;", "@%__tessera_end_p0 mov.u32 %r0, 0;",
            "not.pred %__tessera_end_pending0, %p0;", "mov.pred %__tessera_end_pending0, 1;", "mov.pred %p0, %__tessera_end_pending0;",
            "st.shared.u32 [%__tessera_end_r0], %r0;", "barrier.cluster.arrive;", "barrier.cluster.wait;",
            "barrier.cluster.arrive; barrier.cluster.wait;",
            "@%p0 barrier.cluster.arrive.relaxed;"})
    void whatElseIsThere(String statement) throws Exception {
        isRejected("(setp.eq.u32[^;]*7;)", "$1 " + statement);
    }

    /** The program's use of the barrier is its own affair. */
    @Test
    void arrivalsAndWaitsMayBeAnywhere() throws Exception {
        String waits = text.replaceFirst("(?s)\t@%__tessera_end_pending0 bra \t(__tessera_end_arrived_\\d+);.*?\\1:\n", "");
        assertFalse(waits.equals(text));
        assertEquals(Set.of(), rejected(waits));
        String called = fenced(TEXT.replace("@%p1 exit;\nret;", "barrier.cluster.arrive;\n@%p1 exit;\nbarrier.cluster.wait;\nret;"));
        assertEquals(Set.of(), rejected(called));
        assertEquals(Set.of("k"), rejected(called.replaceFirst("(\\.func[^{]*\\{(?s).*?)(\tret;)", "$1\tbarrier.cluster.arrive;\n$2")));
    }

    /** Shared addresses that are cut where dynamic memory ends, and not where the words begin. */
    @ParameterizedTest
    @ValueSource(strings = {"16", "23", "0"})
    void accessesThatMayComeToTheWords(String less) throws Exception {
        isRejected("(sub.u32 \t%__tessera_r\\d+, %__tessera_r\\d+), 24;", "$1, " + less + ";");
    }

    /** A kernel whose blocks reach nothing has no start and end; with an access or a call it is no such kernel. */
    @Test
    void kernelsThatReachNoOtherBlock() throws Exception {
        String both = fenced(TEXT + ".visible .entry other(.param .u64 p)\n{\n.reg .b32 %r<2>;\nmov.u32 %r1, 1;\nret;\n}\n");
        assertEquals(Set.of(), rejected(both));
        String changed = both.substring(0, both.lastIndexOf("\tret;"));
        for (String more : List.of("call f;", "mapa.shared::cluster.u32 %r0, %r0, 1; ld.shared::cluster.u32 %r0, [%r0];",
                "barrier.cluster.arrive;")) {
            assertEquals(Set.of("other"), rejected(changed + more + "\nret;\n}\n"), more);
        }
    }

    /** Without an access that reaches other blocks, and without a barrier, nothing needs to wait. */
    @Test
    void modulesThatReachNoOtherBlock() throws Exception {
        String own = TEXT.replace("ld.shared::cluster.u32 %r3, [%r2];", "ld.shared.u32 %r3, [s];").replaceAll("barrier.cluster.*;", "");
        String fenced = fenced(own);
        assertFalse(fenced.contains("__tessera_end"));
        assertEquals(Set.of(), rejected(fenced));
        assertFalse(FenceVerifier.verify(GridLooks.bytes(fenced), Mode.MASK, false).waits());
    }
}
