package io.tessera.guardian.fence.module;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.fence.proof.oracle.DataFlowOracle;
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

/** In modules that access other blocks' shared memory, or reach the barrier of a cluster, the last thread of a block waits for its cluster. */
class ClusterWaitsTest {
    private static final String HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n";
    private static final String REACH = "mov.u32 %r1, s; mapa.shared::cluster.u32 %r2, %r1, 1; ld.shared::cluster.u32 %r3, [%r2];\n";
    private static String kernel(String statements) {
        return ".entry k(.param .u64 p) { .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<3>; .shared .align 8 .b8 s[64];\n"
                + "ld.param.u64 %d1, [p]; ld.param.u32 %r4, [p]; setp.eq.u32 %p1, %r4, 7;\n" + statements + "\n}\n";
    }

    private static FencedModule fenced(String text, FenceMode mode) throws Exception {
        return new Fencer(mode).fence(PtxParser.parse(HEAD + text));
    }

    /** Returns the instructions of a module, a line each, after its first function with that name; the module is verified. */
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

    /** Checks the number of ends that count threads, of those that also count at the barrier, and the code of the last thread. */
    private static void hasEnds(int ends, int meeting, List<String> lines) {
        assertEquals(ends, count(lines, "atom.acq_rel.cluster.shared.add.u32 .*, 1;"), lines::toString);
        assertEquals(ends, count(lines, "bra __tessera_end_last;"), lines::toString);
        assertEquals(2 * ends + 1, count(lines, "@%__tessera_end_p0 exit;"), lines::toString);
        assertEquals(2 * ends + 1, count(lines, "(@\\S+ )?(exit|ret|trap);"), lines::toString);
        assertEquals(meeting, count(lines, "selp.b32 .*, 4096, 4097, %arrived;"), lines::toString);
        assertEquals(1, count(lines, "__tessera_end_last:"), lines::toString);
        assertTrue(lines.getLast().startsWith("bra __tessera_end_look"), lines::toString);
        assertEquals(2, count(lines, "barrier.*"), lines::toString);
    }

    /** With the end of a look when large grids begin, and three of a record of a fault. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"ret; | 5", "exit; | 5", "@%p1 exit; @!%p1 ret; exit; | 7",
            "@%p1 bra VIA; @%p1 bra ON; VIA: bra OUT; ON: mov.u32 %r5, 1; OUT: NEXT: ret; | 7"})
    void eachEndCountsItsThread(String statements, int ends) throws Exception {
        hasEnds(ends, 0, kernelLines(statements));
        hasEnds(ends + 1, ends - 1, kernelLines("barrier.cluster.arrive; barrier.cluster.wait; " + statements));
    }

    /** Looks at the stop word, records of faults, and what the block has too little shared memory for. */
    @ParameterizedTest
    @EnumSource(value = FenceMode.class, names = "NONE", mode = EnumSource.Mode.EXCLUDE)
    void whatFencesEndIsCounted(FenceMode mode) throws Exception {
        String statements = "L: ld.global.u32 %r5, [%d1]; st.shared::cluster.u32 [%r5], %r3; setp.ne.u32 %p2, %r5, 0; @%p2 bra L;\n@%p1 trap; ret;";
        hasEnds(6, 0, lines(kernel(REACH + statements), mode, "k"));
        hasEnds(7, 4, lines(kernel(REACH + "barrier.cluster.arrive; barrier.cluster.wait; " + statements), mode, "k"));
    }

    /** Code where the paths of a warp meet can wait for threads that wait for their ends. */
    @Test
    void noTwoEndsHaveInstructionsInCommon() throws Exception {
        List<String> lines = kernelLines("@%p1 bra A; ld.global.u32 %r5, [%d1]; setp.eq.u32 %p2, %r5, 7; @%p2 exit; bra B;\nA: @%p1 exit;\nB: ret;");
        for (int at = 0; at < lines.size(); at++) {
            if (lines.get(at).equals("bra __tessera_end_last;")) {
                List<String> before = lines.subList(0, at);
                int label = before.lastIndexOf(before.stream().filter(line -> line.endsWith(":")).reduce((_, last) -> last).orElseThrow());
                assertTrue(label < before.lastIndexOf("fence.acq_rel.cluster;"), before::toString);
            }
        }
    }

    @Test
    void anEndInAFunctionIsCountedAndItsReturnIsNone() throws Exception {
        String function = ".func f() { .reg .b32 %r<2>; .reg .pred %p<2>; mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 5; @%p1 exit; ret; }\n";
        List<String> lines = lines(function + kernel(REACH + "call f; ret;"), FenceMode.MASK, "f");
        assertEquals(1, count(lines, "ret;"), lines::toString);
        assertEquals(3, count(lines, "(@\\S+ )?exit;"), lines::toString);
        List<String> without = lines(".func f() { ret; }\n" + kernel(REACH + "call f; ret;"), FenceMode.MASK, "f");
        assertEquals(0, count(without, ".*__tessera_end.*"), without::toString);
        List<String> meeting = lines(function + kernel("barrier.cluster.arrive; call f; barrier.cluster.wait; ret;"), FenceMode.MASK, "f");
        assertEquals(1, count(meeting, "selp.b32 .*, 4096, 4097, %arrived;"), meeting::toString);
        assertEquals(1, count(meeting, "mov.pred %arrived, 0;"), meeting::toString);
    }

    /** A: an arrival. W: a wait. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "barrier.cluster.arrive.release.aligned; ret; | A",
            "barrier.cluster.wait.acquire.aligned; ret;   | W",
            "barrier.cluster.arrive; call f; ret;         | A W call f;",
            "@%p1 barrier.cluster.arrive; ret;            | @!%p1 bra S; A S:",
            "@!%p1 barrier.cluster.wait; ret;             | @%p1 bra S; W S:",
            "barrier.cluster.wait; @%p1 call f; ret;      | W @!%p1 bra S; W call f; S:",
            "call f; barrier.cluster.wait; ret;           | W call f; W",
            "L: barrier.cluster.arrive; barrier.cluster.wait; @%p1 bra L; ret; | A W"
    })
    void barriersAreOfTheFencesOwn(String statements, String expected) throws Exception {
        List<String> lines = lines(".func f() { ret; }\n" + kernel(statements), FenceMode.MASK, "k");
        String all = String.join(" ", lines).replaceAll("__tessera_end_skipped_\\d+", "S").replaceAll("%p\\d", "%p1")
                .replaceAll("@%arrived bra (__tessera_end_arrived_\\d+); .*? \\1:", "A")
                .replaceAll("@!%arrived bra (__tessera_end_waited_\\d+); .*? \\1:", "W");
        assertTrue(all.contains(expected), all);
        assertEquals(1, count(lines, "barrier.*arrive.*"), lines::toString);
        assertEquals(count(lines, "@!%arrived bra .*"), count(lines, "@%__tessera_end_p1 ld.volatile.global.u32 .*"), "looks at the stop word");
    }

    /** A function is not told whether its caller has arrived, and does not tell it. */
    @Test
    void whoReturnsHasWaited() throws Exception {
        String function = ".func g() { barrier.cluster.arrive; ret; }\n";
        List<String> lines = lines(function + kernel("call g; ret;"), FenceMode.MASK, "g");
        assertEquals(1, count(lines, "@!%arrived bra .*"), lines::toString);
        assertEquals(1, count(lines, "mov.pred %arrived, 1;"), lines::toString);
        List<String> kernel = lines(function + kernel("call g; ret;"), FenceMode.MASK, "k");
        assertEquals(1, count(kernel, "selp.b32 .*, 4096, 4097, %arrived;"), kernel::toString);
        List<String> other = lines(function + kernel("ret;"), FenceMode.MASK, "k");
        assertEquals(0, count(other, ".*%arrived.*"), other::toString);
    }

    /** The words do not belong to the program: all limits end before them, and the program sees only its own size. */
    @Test
    void theLastBytesAreNotTheProgramsOwn() throws Exception {
        List<String> lines = kernelLines("st.shared::cluster.u32 [%r4], %r3; mov.u32 %r5, %dynamic_smem_size; st.shared.u32 [s], %r5; ret;");
        long reads = count(lines, "mov.u32 %\\w+, %dynamic_smem_size;");
        assertEquals(reads, count(lines, "sub.u32 %(\\w+), %\\1, (16|24);"), lines::toString);
        assertEquals(6, count(lines, "sub.u32 %(\\w+), %\\1, 16;"), lines::toString);
    }

    @Test
    void accessesByGenericAddressesOfOtherBlocksCount() throws Exception {
        String generic = "mov.u32 %r1, s; cvt.u64.u32 %d2, %r1; cvta.shared.u64 %d2, %d2; mapa.u64 %d3, %d2, 1; ld.u32 %r3, [%d3]; ret;";
        hasEnds(5, 0, lines(kernel(generic), FenceMode.MASK, "k"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"mov.u32 %r1, s; mapa.shared::cluster.u32 %r2, %r1, 1; st.shared.u32 [s], %r2; ret;",
            "st.shared.u32 [s], %r4; @%p1 exit; ret;"})
    void otherModulesStayAsTheyAre(String statements) throws Exception {
        assertFalse(lines(kernel(statements), FenceMode.MASK, "k").toString().contains("__tessera_end"));
        assertFalse(fenced(kernel(statements), FenceMode.MASK).waits());
    }

    /** All blocks of a cluster run the same kernel. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"false | ret;", "true | call f; ret;",
            "true | mov.u32 %r1, s; mapa.shared::cluster.u32 %r2, %r1, 1; ld.shared::cluster.u32 %r3, [%r2]; ret;"})
    void otherKernelsStayAsTheyAre(boolean waits, String statements) throws Exception {
        String other = kernel(statements).replace("k(", "other(");
        for (String module : List.of(kernel(REACH + "ret;"), kernel("barrier.cluster.arrive; barrier.cluster.wait; ret;"))) {
            List<String> lines = lines(".func f() { ret; }\n" + module + other, FenceMode.MASK, "other");
            assertEquals(waits, lines.contains("__tessera_end_last:"), lines::toString);
        }
    }

    @Test
    void aTenantThatIsAloneKeepsItsEnds() throws Exception {
        assertFalse(lines(kernel(REACH + "@%p1 exit; ret;"), FenceMode.NONE, "k").toString().contains("__tessera_end"));
    }

    /** Other modules' functions do not count their ends. */
    @Test
    void linkedModulesHaveNoSuchBarrier() throws Exception {
        String text = HEAD + ".entry other() { ret; }\n" + kernel("barrier.cluster.arrive; barrier.cluster.wait; ret;");
        FencedModule fenced = new Fencer(FenceMode.MASK, new DataFlowOracle(), true).fence(PtxParser.parse(text));
        assertEquals(List.of("k"), List.copyOf(fenced.refused().keySet()));
        assertTrue(fenced.refused().get("k").getMessage().contains("in a module that is linked"), fenced.refused()::toString);
    }
}
