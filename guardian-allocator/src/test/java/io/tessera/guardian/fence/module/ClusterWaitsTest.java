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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** In modules that reach into other blocks' shared memory the last thread of a block waits for its cluster. */
class ClusterWaitsTest {
    private static final String HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n";
    private static final String REACH = "mov.u32 %r1, s; mapa.shared::cluster.u32 %r2, %r1, 1; ld.shared::cluster.u32 %r3, [%r2];\n";
    private static final String WAITED = "@%arrived barrier.cluster.wait; mov.pred %arrived, 0; ";

    private static String kernel(String statements) {
        return ".entry k(.param .u64 p) { .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<3>; .shared .align 8 .b8 s[64];\n"
                + "ld.param.u64 %d1, [p]; ld.param.u32 %r4, [p]; setp.eq.u32 %p1, %r4, 7;\n" + statements + "\n}\n";
    }

    private static FencedModule fenced(String text, FenceMode mode) throws Exception {
        return new Fencer(mode).fence(PtxParser.parse(HEAD + text));
    }

    /** What runs of a module, a line each, after its first function that is named so; the module is verified. */
    private static List<String> lines(String text, FenceMode mode, String function) throws Exception {
        FencedModule fenced = fenced(text, mode);
        assertEquals(Map.of(), fenced.refused());
        String ptx = fenced.ptx();
        Verdict verdict = FenceVerifier.verify(ptx.getBytes(StandardCharsets.UTF_8), Mode.valueOf(mode.name()), false);
        assertTrue(verdict.whole(), () -> verdict.rejected() + "\n" + ptx);
        assertEquals(fenced.waits(), verdict.waits());
        return ptx.substring(ptx.indexOf(" " + function + "(")).lines().takeWhile(line -> !line.equals("}"))
                .map(line -> line.strip().replace("%__tessera_end_pending0", "%arrived").replaceAll("\\s+", " ")).toList();
    }

    private static List<String> kernelLines(String statements) throws Exception {
        return lines(kernel(REACH + statements), FenceMode.MASK, "k");
    }

    private static long count(List<String> lines, String pattern) {
        return lines.stream().filter(line -> line.matches(pattern)).count();
    }

    private static void hasNoOtherEnd(List<String> lines) {
        List<String> end = lines.subList(lines.indexOf("__tessera_end_all:"), lines.size());
        assertEquals(3, count(end, "@%__tessera_end_p0 exit;"), lines::toString);
        assertEquals(3, count(lines, "(@\\S+ )?(exit|ret|trap);"), lines::toString);
        assertTrue(end.getLast().startsWith("bra __tessera_end_round"), lines::toString);
        assertEquals(1, count(lines, "__tessera_end_all:"), lines::toString);
    }

    /** With the two ends of a look when large grids begin, and of a record of a fault. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "ret;                             | bra __tessera_end_all;",
            "exit;                            | bra __tessera_end_all;",
            "@%p1 exit; @!%p1 ret; exit;      | @%p1 bra __tessera_end_all; @!%p1 bra __tessera_end_all; bra __tessera_end_all;",
    })
    void eachEndOfAKernelGoesToItsLastInstructions(String statements, String expected) throws Exception {
        List<String> lines = kernelLines(statements);
        hasNoOtherEnd(lines);
        assertTrue(String.join(" ", lines).replaceAll("%p\\d", "%p1").contains(expected), lines::toString);
        assertEquals(count(lines, "__tessera_end_begun_0:"), 1, lines::toString);
        assertTrue(count(lines, "(@\\S+ )?bra __tessera_end_all;") > expected.split("_all").length, lines::toString);
    }

    /** Looks at the stop word, records of faults, and what the block has too little shared memory for. */
    @ParameterizedTest
    @EnumSource(value = FenceMode.class, names = "NONE", mode = EnumSource.Mode.EXCLUDE)
    void whatFencesEndWaits(FenceMode mode) throws Exception {
        hasNoOtherEnd(lines(kernel(REACH + "L: ld.global.u32 %r5, [%d1]; st.shared::cluster.u32 [%r5], %r3; setp.ne.u32 %p2, %r5, 0; @%p2 bra L;\n"
                + "@%p1 trap; ret;"), mode, "k"));
    }

    @Test
    void anEndInAFunctionWaitsAndItsReturnDoesNot() throws Exception {
        String function = ".func f() { .reg .b32 %r<2>; .reg .pred %p<2>; mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 5; @%p1 exit; ret; }\n";
        List<String> lines = lines(function + kernel(REACH + "call f; ret;"), FenceMode.MASK, "f");
        assertEquals(1, count(lines, "ret;"), lines::toString);
        assertEquals(3, count(lines, "(@\\S+ )?exit;"), lines::toString);
        assertEquals(1, count(lines, "@\\S+ bra __tessera_end_all;"), lines::toString);
        assertEquals(1, count(lines, ".*barrier.cluster.wait;"), lines::toString);
        List<String> without = lines(".func f() { ret; }\n" + kernel(REACH + "call f; ret;"), FenceMode.MASK, "f");
        assertEquals(0, count(without, ".*__tessera_end.*"), without::toString);
    }

    /** Nothing is known of how often a thread comes there. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "barrier.cluster.arrive.release.aligned; ret; | W barrier.cluster.arrive.release.aligned; mov.pred %arrived, 1; bra",
            "barrier.cluster.wait.acquire.aligned; ret;   | @%arrived barrier.cluster.wait.acquire.aligned; mov.pred %arrived, 0; bra",
            "call f; ret;                                 | W call f; bra",
            "@%p1 barrier.cluster.arrive; ret;            | @!%p1 bra S; W barrier.cluster.arrive; mov.pred %arrived, 1; S: bra",
            "@!%p1 barrier.cluster.wait; ret;             | @%p1 bra S; W S: bra",
            "@%p1 call f; ret;                            | @!%p1 bra S; W call f; S: bra",
            "L: barrier.cluster.arrive; barrier.cluster.wait; @%p1 bra L; ret; | W barrier.cluster.arrive; mov.pred %arrived, 1; W"
    })
    void whoHasArrivedWaitsFirst(String statements, String expected) throws Exception {
        List<String> lines = lines(".func f() { ret; }\n" + kernel(REACH + statements), FenceMode.MASK, "k");
        String all = String.join(" ", lines).replace("__tessera_end_skipped_1", "S").replaceAll("%p\\d", "%p1");
        assertTrue(all.contains(expected.replace("W ", WAITED).replace("W", WAITED.strip())), all);
        assertEquals(1, count(lines, "mov.pred %arrived, 0;") - count(lines, "@%arrived barrier.*") + 1, lines::toString);
    }

    /** The words are no program's: what ends an access ends before them, and the program is told of no more than it has. */
    @Test
    void theLastBytesAreNotTheProgramsOwn() throws Exception {
        List<String> lines = kernelLines("st.shared::cluster.u32 [%r4], %r3; mov.u32 %r5, %dynamic_smem_size; st.shared.u32 [s], %r5; ret;");
        long reads = count(lines, "mov.u32 %\\w+, %dynamic_smem_size;");
        assertEquals(reads, count(lines, "sub.u32 %(\\w+), %\\1, (8|16);"), lines::toString);
        assertEquals(2, count(lines, "sub.u32 %(\\w+), %\\1, 8;"), lines::toString);
    }

    @Test
    void accessesByGenericAddressesOfOtherBlocksCount() throws Exception {
        String generic = "mov.u32 %r1, s; cvt.u64.u32 %d2, %r1; cvta.shared.u64 %d2, %d2; mapa.u64 %d3, %d2, 1; ld.u32 %r3, [%d3]; ret;";
        hasNoOtherEnd(lines(kernel(generic), FenceMode.MASK, "k"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"st.shared.u32 [s], %r4; barrier.cluster.arrive; barrier.cluster.wait.acquire; ret;",
            "mov.u32 %r1, s; mapa.shared::cluster.u32 %r2, %r1, 1; st.shared.u32 [s], %r2; ret;", "st.shared.u32 [s], %r4; @%p1 exit; ret;"})
    void otherModulesStayAsTheyAre(String statements) throws Exception {
        assertFalse(lines(kernel(statements), FenceMode.MASK, "k").toString().contains("__tessera_end"));
        assertFalse(fenced(kernel(statements), FenceMode.MASK).waits());
    }

    @Test
    void aTenantThatIsAloneKeepsItsEnds() throws Exception {
        assertFalse(lines(kernel(REACH + "@%p1 exit; ret;"), FenceMode.NONE, "k").toString().contains("__tessera_end"));
    }

    @Test
    void aFunctionIsNotToldWhoHasArrived() throws Exception {
        String functions = ".func g() { barrier.cluster.arrive; barrier.cluster.wait; ret; }\n.entry other() { ret; }\n";
        FencedModule fenced = fenced(functions + kernel(REACH + "call g; ret;"), FenceMode.MASK);
        assertEquals(List.of("k"), List.copyOf(fenced.refused().keySet()));
        assertTrue(fenced.refused().get("k").getMessage().contains("a function that is called"), fenced.refused()::toString);
    }
}
