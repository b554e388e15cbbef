package io.tessera.guardian.fence.module;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.ptx.parse.PtxParser;
import io.tessera.guardian.verify.Mode;
import io.tessera.guardian.verify.Verdict;
import io.tessera.guardian.verify.module.FenceVerifier;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** In modules that reach into other blocks' shared memory the first thread of a block waits for its cluster before it ends. */
class ClusterWaitsTest {
    private static final String HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n";
    private static final String REACH = "mov.u32 %r1, s; mapa.shared::cluster.u32 %r2, %r1, 1; ld.shared::cluster.u32 %r3, [%r2];\n";
    private static final String ARRIVE = "barrier.cluster.arrive; ";
    private static final String WAIT = "barrier.cluster.wait; ";

    private static final String FIRST = "mov.u32 %r0, %tid.x;mov.u32 %r1, %tid.y;or.b32 %r0, %r0, %r1;mov.u32 %r1, %tid.z;or.b32 %r0, %r0, %r1;"
            + "mov.u32 %r1, %cluster_nctarank;setp.eq.u32 %p0, %r1, 1;selp.b32 %r0, 1, %r0, %p0;";
    private static final String PAIR = "@%p0 barrier.cluster.arrive;@%p0 barrier.cluster.wait;";

    private static String kernel(String statements) {
        return ".entry k(.param .u64 p) { .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<3>; .shared .align 8 .b8 s[64];\n"
                + "ld.param.u64 %d1, [p]; ld.param.u32 %r4, [p]; setp.eq.u32 %p1, %r4, 7;\n" + statements + "\n}\n";
    }

    private static FencedModule fenced(String text, FenceMode mode) throws Exception {
        return new Fencer(mode).fence(PtxParser.parse(HEAD + text));
    }

    /** The ends of a module, each with what the first thread does before it: one pair of barriers, or a wait and a pair. The module is verified. */
    private static List<String> ends(String text, FenceMode mode) throws Exception {
        FencedModule fenced = fenced(text, mode);
        assertEquals(Map.of(), fenced.refused());
        String ptx = fenced.ptx();
        Verdict verdict = FenceVerifier.verify(ptx.getBytes(StandardCharsets.UTF_8), Mode.valueOf(mode.name()), false);
        assertTrue(verdict.whole(), () -> verdict.rejected() + "\n" + ptx);
        List<String> lines = ptx.lines().map(line -> line.strip().replace("%__tessera_end_", "%").replaceAll("\\s+", " ")).toList();
        return IntStream.range(9, lines.size()).filter(n -> lines.get(n).matches("(@\\S+ )?(ret|exit);")).mapToObj(n -> {
            String end = lines.get(n);
            boolean guarded = end.startsWith("@");
            String compare = guarded ? "setp.eq.and.u32 %p0, %r0, 0, " + end.substring(1, end.indexOf(' ')) + ";" : "setp.eq.u32 %p0, %r0, 0;";
            String before = String.join("", lines.subList(0, n));
            String one = "((?:@%p0 barrier.cluster.wait;)?)((?:" + PAIR + ")*)";
            Matcher found = Pattern.compile(".*[;:]"
                    + Pattern.quote((guarded ? end.substring(0, end.indexOf(' ') + 1) : "") + "fence.acq_rel.cluster;" + FIRST + compare) + one)
                    .matcher(before);
            String waits = !found.matches() || found.group(2).isEmpty() ? ""
                    : (found.group(1).isEmpty() ? "" : "wait, ") + "pair, ".repeat(found.group(2).length() / PAIR.length());
            return waits + (guarded ? "guarded " + end.substring(end.indexOf(' ') + 1) : end);
        }).toList();
    }

    /** The first end is that of the look with which large grids begin; the last three are those of the record of a fault. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "1 | ret;                                                                              | P ret;",
            "1 | exit;                                                                             | P exit;",
            "1 | @%p1 exit; @!%p1 ret; exit;                                                       | P guarded exit; P guarded ret; P exit;",
            "2 | barrier.cluster.arrive; ret;                                                      | wait, P ret;",
            "2 | barrier.cluster.arrive.relaxed; @%p1 exit; barrier.cluster.wait.acquire; ret;     | wait, P guarded exit; P ret;",
            "2 | barrier.cluster.arrive; @%p1 bra L; barrier.cluster.wait.acquire; ret; L: ret;    | P ret; wait, P ret;",
            "3 | barrier.cluster.arrive; @%p1 bra L; barrier.cluster.wait.acquire; barrier.cluster.arrive; L: barrier.cluster.wait.acquire; ret; | P ret;"
    })
    void eachEndOfAKernelWaits(int times, String statements, String expected) throws Exception {
        assertEquals(("P guarded exit; " + expected + " P guarded exit; P guarded exit; P exit;").replace("P ", "pair, ".repeat(times)),
                String.join(" ", ends(kernel(REACH + statements), FenceMode.MASK)));
    }

    /** Looks at the stop word, records of faults, and what the block has too little shared memory for. */
    @ParameterizedTest
    @EnumSource(value = FenceMode.class, names = "NONE", mode = EnumSource.Mode.EXCLUDE)
    void whatFencesEndWaits(FenceMode mode) throws Exception {
        List<String> ends = ends(
                kernel(REACH + "L: ld.global.u32 %r5, [%d1]; st.shared::cluster.u32 [%r5], %r3; setp.ne.u32 %p2, %r5, 0; @%p2 bra L;\n"
                        + "@%p1 trap; ret;"),
                mode);
        assertTrue(ends.size() >= 6, ends::toString);
        assertTrue(ends.stream().allMatch(end -> end.startsWith("pair")), ends::toString);
    }

    @Test
    void anEndInAFunctionWaitsAndItsReturnDoesNot() throws Exception {
        String function = ".func f() { .reg .b32 %r<2>; .reg .pred %p<2>; mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 5; @%p1 exit; ret; }\n";
        assertEquals(List.of("pair, guarded exit;", "ret;", "pair, guarded exit;", "pair, ret;"),
                ends(function + kernel(REACH + "call f; ret;"), FenceMode.MASK).subList(0, 4));
    }

    /** A function knows no better than that any kernel may call it. */
    @Test
    void anEndInAFunctionWaitsForItsCallersArrivals() throws Exception {
        String function = ".func f() { .reg .b32 %r<2>; .reg .pred %p<2>; mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 5; @%p1 exit; ret; }\n";
        assertEquals("pair, pair, guarded exit;",
                ends(function + kernel(REACH + "call f; barrier.cluster.arrive; barrier.cluster.wait.acquire; ret;"), FenceMode.MASK).getFirst());
    }

    @Test
    void accessesByGenericAddressesOfOtherBlocksCount() throws Exception {
        String generic = "mov.u32 %r1, s; cvt.u64.u32 %d2, %r1; cvta.shared.u64 %d2, %d2; mapa.u64 %d3, %d2, 1; ld.u32 %r3, [%d3]; ret;";
        assertTrue(ends(kernel(generic), FenceMode.MASK).stream().allMatch(end -> end.startsWith("pair")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"st.shared.u32 [s], %r4; barrier.cluster.arrive; barrier.cluster.wait.acquire; ret;",
            "mov.u32 %r1, s; mapa.shared::cluster.u32 %r2, %r1, 1; st.shared.u32 [s], %r2; ret;", "st.shared.u32 [s], %r4; @%p1 exit; ret;"})
    void otherModulesStayAsTheyAre(String statements) throws Exception {
        assertFalse(ends(kernel(statements), FenceMode.MASK).stream().anyMatch(end -> end.startsWith("pair")));
    }

    @Test
    void aTenantThatIsAloneKeepsItsEnds() throws Exception {
        assertFalse(ends(kernel(REACH + "@%p1 exit; ret;"), FenceMode.NONE).stream().anyMatch(end -> end.startsWith("pair")));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "@%p1 barrier.cluster.arrive; ret;                                                | may end after an arrival",
            "@%p1 bra L; barrier.cluster.arrive; L: ret;                                      | may end after an arrival",
            "barrier.cluster.arrive; barrier.cluster.arrive; barrier.cluster.wait; ret;       | before the wait for it",
            "L: barrier.cluster.arrive; barrier.cluster.wait; @%p1 bra L; ret;                 | in a loop",
            "ARRIVALS ret;                                                                     | one of more than 16",
            "barrier.cluster.arrive; call f; barrier.cluster.wait; ret;                       | before the wait for it",
            "call g; ret;                                                                     | a function that is called"
    })
    void whatCannotWaitIsRefused(String statements, String reason) throws Exception {
        String functions = ".func f() { ret; }\n.func g() { " + ARRIVE + WAIT + "ret; }\n.entry other() { ret; }\n";
        FencedModule fenced = fenced(functions + kernel(REACH + statements.replace("ARRIVALS", (ARRIVE + WAIT).repeat(17))), FenceMode.MASK);
        assertEquals(List.of("k"), List.copyOf(fenced.refused().keySet()));
        assertTrue(fenced.refused().get("k").getMessage().contains(reason), fenced.refused()::toString);
    }
}
