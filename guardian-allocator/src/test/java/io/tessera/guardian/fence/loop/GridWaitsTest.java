package io.tessera.guardian.fence.loop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.cache.FencedTables;
import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.fence.KernelReport;
import io.tessera.guardian.fence.module.Fencer;
import io.tessera.guardian.fence.proof.oracle.SyntacticOracle;
import io.tessera.guardian.ptx.parse.PtxParser;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests which kernels from PTX may wait for other blocks of their grid. */
@Timeout(120)
class GridWaitsTest {
    private static final String HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n";
    private static final String OTHER = """
            .func (.param .b32 r) poll(.param .b64 a)
            {
                .reg .b32 %r<3>;
                .reg .b64 %rd<3>;
                ld.param.u64 %rd1, [a];
                ld.u32 %r1, [%rd1];
                st.param.b32 [r], %r1;
                ret;
            }
            """;

    /** Why kernel k waits; null: it does not. */
    private static String waits(String statements, boolean linked, String... before) throws Exception {
        String text = HEAD + String.join("\n", before)
                + "\n.visible .entry k(.param .u64 p)\n{\n.reg .pred %p<9>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n"
                + ".param .b64 a;\n.param .b32 b;\nld.param.u64 %rd1, [p];\nmov.u32 %r1, 0;\n" + statements + "\nret;\n}\n";
        Fencer fencer = linked ? new Fencer(FenceMode.MASK, new SyntacticOracle(), true) : new Fencer(FenceMode.MASK);
        return fencer.fence(PtxParser.parse(text.getBytes(StandardCharsets.US_ASCII))).reports().stream().filter(report -> report.name().equals("k"))
                .findFirst().orElseThrow().waits();
    }

    private static String waits(String statements) throws Exception {
        return waits(statements, false);
    }

    /** The names of the kernels say what is expected. */
    @ParameterizedTest
    @EnumSource(FenceMode.class)
    void compiledKernelsWait(FenceMode mode) throws Exception {
        FencedModule fenced = new Fencer(mode).fence(PtxParser.parse(Files.readAllBytes(Path.of("src/test/resources/ptx/waits.90.ptx"))));
        List<KernelReport> kernels = fenced.reports().stream().filter(KernelReport::kernel).toList();
        assertTrue(kernels.size() >= 20, fenced.refused().toString());
        assertEquals(kernels.stream().map(KernelReport::name).filter(name -> name.startsWith("waits_")).collect(Collectors.toSet()),
                kernels.stream().filter(kernel -> kernel.waits() != null).map(KernelReport::name).collect(Collectors.toSet()));
        FencedTables tables = FencedTables.of(fenced);
        assertTrue(tables.waiting().contains("waits_for_a_lock"));
        assertTrue(tables.functions().contains("runs_a_loop") && !tables.waiting().contains("runs_a_loop"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"ld.volatile.global.u32 %r1, [%rd1];", "ld.volatile.u32 %r1, [%rd1];", "ld.relaxed.gpu.u32 %r1, [%rd1];",
            "ld.acquire.sys.global.u32 %r1, [%rd1];", "ld.acquire.cluster.global.u32 %r1, [%rd1];", "ld.global.cv.u32 %r1, [%rd1];",
            "ld.global.cg.u32 %r1, [%rd1];", "atom.global.add.u32 %r1, [%rd1], 0;", "atom.global.add.u32 %r1, [%rd1], %r2;",
            "atom.global.add.u32 %r1, [%rd1], 65536;", "atom.global.inc.u32 %r1, [%rd1], 1;", "atom.cas.b32 %r1, [%rd1], 0, 1;",
            "ld.global.u32 %r1, [%rd1];\nmembar.gl;", "fence.acq_rel.gpu;\nld.global.u32 %r1, [%rd1];",
            "ld.relaxed.cta.u32 %r1, [%rd1];\nfence.sc.sys;", "ld.global.u32 %r1, [%rd1];\natom.acquire.gpu.global.add.u32 %r3, [%rd1], 1;",
            "ld.global.u32 %r1, [%rd1];\nbarrier.cluster.arrive;\nbarrier.cluster.wait;",
            "cp.async.cg.shared.global [%rd4], [%rd1], 16;\ncp.async.wait_all;\nld.shared.u32 %r1, [%rd4];",
            "cp.async.ca.shared.global [%rd4], [%rd1], 4;\nld.volatile.u32 %r2, [%rd4];\nand.b32 %r1, %r2, 1;",
            "ld.global.u32 %r1, [%rd1];", "ld.global.u32 %r1, [%rd1];\nbar.sync 0;"})
    void aLoopWaitsBy(String load) throws Exception {
        assertNotNull(waits("again:\n" + load + "\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra again;"));
        assertNull(waits(load + "\nagain:\nadd.u32 %r2, %r1, %r2;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra again;"), "not outside of the loop");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ld.global.nc.u32 %r1, [%rd1];\nmembar.gl;", "ld.shared.u32 %r1, [%rd1];", "ld.volatile.shared.u32 %r1, [%rd1];",
            "ld.global.u32 %r1, [%rd1];\nadd.u64 %rd1, %rd1, 4;", "ld.global.u32 %r3, [%rd1];", "red.global.add.u32 [%rd1], 1;",
            "ld.global.u32 %r3, [%rd1];\natom.acquire.cta.global.add.u32 %r4, [%rd1], 1;", "atom.global.add.u32 %r3, [%rd1], %r2;",
            "atom.global.add.u32 %r1, [%rd1], 1;", "atom.global.add.u64 %rd2, [%rd1], 2;",
            "cp.async.cg.shared.global [%rd4], [%rd1], 16;\nld.shared.u32 %r3, [%rd4];"})
    void noLoopWaitsBy(String load) throws Exception {
        assertNull(waits("again:\n" + load + "\nadd.u32 %r1, %r1, %r2;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra again;"));
    }

    /** The loop ends after 1,000 rounds; whether it waits depends on what its other branches and ends depend on. */
    @ParameterizedTest
    @ValueSource(strings = {"ld.volatile.global.u32 %r2, [%rd1];\nsetp.ne.u32 %p2, %r2, 0;\n@%p2 bra done;",
            "ld.volatile.global.u32 %r2, [%rd1];\nsetp.ne.u32 %p2, %r2, 0;\n@%p2 exit;",
            "ld.acquire.gpu.global.v2.u32 {%r3, %r2}, [%rd1];\nsetp.ne.u32 %p3|%p4, %r2, 0;\nmov.pred %p2, %p4;\n@!%p2 bra done;",
            "ld.volatile.global.u32 %r2, [%rd1];\nst.shared.u32 [%rd4], %r2;\nbar.sync 0;\nld.shared.u32 %r3, [%rd4];\n"
                    + "setp.ne.u32 %p2, %r3, 0;\n@%p2 bra done;",
            "ld.volatile.global.u32 %r2, [%rd1];\nsetp.ne.u32 %p2, %r2, 0;\nbar.red.or.pred %p3, 0, %p2;\n@%p3 bra done;",
            "ld.volatile.global.u32 %r2, [%rd1];\nsetp.ne.u32 %p2, %r2, 0;\n@%p2 mov.u32 %r3, 1;\nsetp.ne.u32 %p3, %r3, 0;\n@%p3 bra done;",
            "atom.global.exch.b32 %r2, [%rd1], 1;\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 bra done;",
            "membar.gl;\nld.global.u32 %r2, [%rd1];\nsetp.ne.u32 %p2, %r2, 0;\n@%p2 bra done;",
            "cp.async.cg.shared.global [%rd4], [%rd1], 16;\ncp.async.wait_all;\nld.shared.u32 %r2, [%rd4];\nsetp.ne.u32 %p2, %r2, 0;\n@%p2 bra done;"})
    void aCountedLoopWaitsIfABranchDependsOnALoad(String statements) throws Exception {
        String text = "again:\n%s\nadd.u32 %%r1, %%r1, 1;\nsetp.lt.u32 %%p1, %%r1, 1000;\n@%%p1 bra again;\ndone:";
        assertNotNull(waits(text.formatted(statements)));
        String without = statements.substring(0, statements.lastIndexOf('@')) + "setp.ne.u32 %p6, %r6, 0;\n@%p6 bra done;";
        assertNull(waits(text.formatted(without)), "no branch depends on what is loaded");
    }

    /** Their mbarriers are words of shared memory in what is fenced, which loops load; the program's loops branch by counters and phases. */
    @ParameterizedTest
    @ValueSource(strings = {"pipelines.80", "pipelines.90", "transform.90"})
    void pipelinesOfCopiesDoNotWait(String name) throws Exception {
        FencedModule fenced = new Fencer(FenceMode.MASK)
                .fence(PtxParser.parse(Files.readAllBytes(Path.of("src/test/resources/ptx/" + name + ".ptx"))));
        assertTrue(fenced.reports().stream().anyMatch(KernelReport::kernel));
        assertEquals(List.of(), fenced.reports().stream().map(KernelReport::waits).filter(Objects::nonNull).toList());
    }

    /** The load is in the text of a counted loop alone, and the other loop goes around it by code that stands elsewhere. */
    @Test
    void loopsThatOverlapAreOne() throws Exception {
        assertTrue(waits("""
                bra outer;
                inner:
                ld.volatile.global.u32 %r2, [%rd1];
                add.u32 %r1, %r1, 1;
                setp.lt.u32 %p1, %r1, 10;
                @%p1 bra inner;
                setp.eq.u32 %p2, %r2, 0;
                @!%p2 bra done;
                outer:
                mov.u32 %r1, 0;
                bra inner;
                done:""").startsWith("a loop with ld.volatile.global.u32 at line "));
    }

    @Test
    void aLoopWaitsByWhatItCalls() throws Exception {
        String call = "st.param.b64 [a], %rd1;\ncall (b), poll, (a);\nld.param.b32 %r1, [b];\n";
        String again = "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra again;";
        assertEquals("a loop with a call of a function that loads or fences memory", waits("again:\n" + call + again, false, OTHER));
        assertNull(waits(call + "again:\nadd.u32 %r1, %r1, %r2;\n" + again, false, OTHER));
    }

    @Test
    void aCountedLoopWaitsByWhatItCalls() throws Exception {
        String call = "again:\nst.param.b64 [a], %rd1;\ncall (b), poll, (a);\nld.param.b32 %r2, [b];\nsetp.ne.u32 %p2, %r2, 0;\n";
        String count = "add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 1000;\n@%p1 bra again;\ndone:";
        assertEquals("a loop with a call of a function that loads or fences memory", waits(call + "@%p2 bra done;\n" + count, false, OTHER));
        assertNull(waits(call + count, false, OTHER), "nothing depends on the result");
    }

    /** The functions of another module, and the target of a pointer, are unknown here. */
    @Test
    void whatIsNotKnownMayWait() throws Exception {
        String call = "st.param.b64 [a], %rd1;\ncall (b), elsewhere, (a);\n";
        String declared = ".extern .func (.param .b32 r) elsewhere(.param .b64 a);";
        assertTrue(waits(call, true, declared).endsWith("of what is not known"));
        String pointer = "proto: .callprototype (.param .b32 _) _ (.param .b64 _);\nmov.u64 %rd2, poll;\nst.param.b64 [a], %rd1;\n"
                + "call (b), %rd2, (a), proto;";
        assertTrue(waits(pointer, false, OTHER).endsWith("of what is not known"));
    }
}
