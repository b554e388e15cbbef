package io.tessera.guardian.fence.footprint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.cache.FencedTables;
import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.KernelWrites;
import io.tessera.guardian.fence.module.Fencer;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.parse.PtxParser;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests which parameters a kernel writes and reads through. The kernel of these tests has the pointers {@code p} (0), {@code q} (8) and {@code r} (16),
 * the number {@code n} (24), a word {@code w} (32) and a structure {@code s} (40) with pointers at 8 and 16; they are loaded into {@code %rd1} to
 * {@code %rd4} and {@code %r1}. {@code %rd5} is the offset of the thread's element.
 */
@Timeout(120)
class KernelFootprintsTest {
    private static final String HEAD = """
            .version 9.0
            .target sm_90
            .address_size 64
            .global .align 8 .b8 table[64];
            .const .align 8 .b8 numbers[64];
            .global .texref image;
            .extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
            .extern .func (.param .b32 x) vprintf(.param .b64 a, .param .b64 b);
            .func helper(.param .b64 a)
            {
                ret;
            }
            """;
    private static final String ENTRY = """
            .visible .entry k(.param .u64 p, .param .u64 q, .param .u64 r, .param .u64 n, .param .u32 w, .param .align 8 .b8 s[32])
            {
                .reg .pred %p<9>;
                .reg .b32 %r<20>;
                .reg .f32 %f<9>;
                .reg .b64 %rd<20>;
                .local .align 8 .b8 depot[64];
                .shared .align 8 .b8 tile[64];
                .param .b64 a;
                .param .b32 b;
                ld.param.u64 %rd1, [p];
                ld.param.u64 %rd2, [q];
                ld.param.u64 %rd3, [r];
                ld.param.u64 %rd4, [n];
                ld.param.u32 %r1, [w];
                mov.u32 %r2, %tid.x;
                mul.wide.u32 %rd5, %r2, 4;
            """;

    private static KernelWrites writes(String statements) throws Exception {
        String text = HEAD + ENTRY + statements + "\nret;\n}\n";
        return KernelFootprints.of(PtxParser.parse(text.getBytes(StandardCharsets.US_ASCII))).get("k");
    }

    private static void known(List<Integer> written, List<Integer> read, String statements) throws Exception {
        assertEquals(new KernelWrites(written, read, null), writes(statements));
    }

    private static String unknown(String statements) throws Exception {
        KernelWrites writes = writes(statements);
        assertNotNull(writes.unknown(), writes.toString());
        assertEquals(KernelWrites.unknown(writes.unknown()), writes);
        return writes.unknown();
    }

    @Test
    void vectorsAreAdded() throws Exception {
        known(List.of(16), List.of(0, 8), """
                cvta.to.global.u64 %rd6, %rd1;
                cvta.to.global.u64 %rd7, %rd2;
                cvta.to.global.u64 %rd8, %rd3;
                add.s64 %rd9, %rd6, %rd5;
                add.s64 %rd10, %rd5, %rd7;
                ld.global.f32 %f1, [%rd9];
                ld.global.f32 %f2, [%rd10+4];
                add.f32 %f3, %f1, %f2;
                add.s64 %rd11, %rd8, %rd5;
                st.global.f32 [%rd11], %f3;""");
    }

    @Test
    void anArrayIsUpdatedInPlace() throws Exception {
        known(List.of(0), List.of(0), "ld.f32 %f1, [%rd1];\nadd.f32 %f1, %f1, %f1;\nst.f32 [%rd1], %f1;");
    }

    @ParameterizedTest
    @ValueSource(strings = {"atom.global.add.u32 %r3, [%rd2], 1;", "red.global.add.u32 [%rd2+8], 1;", "atom.cas.b32 %r3, [%rd2], 0, 1;",
            "atom.acq_rel.gpu.global.exch.b64 %rd6, [%rd2], 1;"})
    void atomicsReadAndWrite(String statement) throws Exception {
        known(List.of(8), List.of(8), statement);
    }

    @Test
    void pointersMoveInLoops() throws Exception {
        known(List.of(0), List.of(8), """
                mov.u32 %r3, 0;
                outer:
                mov.b64 %rd6, %rd10;
                inner:
                ld.global.f32 %f1, [%rd7];
                st.global.f32 [%rd6], %f1;
                add.s64 %rd6, %rd6, 4;
                mov.u64 %rd7, %rd8;
                add.s32 %r3, %r3, 1;
                setp.lt.u32 %p1, %r3, 10;
                @%p1 bra inner;
                mov.u64 %rd8, %rd9;
                mov.u64 %rd9, %rd2;
                mov.u64 %rd10, %rd1;
                setp.lt.u32 %p2, %r3, 100;
                @%p2 bra outer;""");
    }

    /** The user of the result looks up the value of each parameter, and a number is the address of nothing. */
    @Test
    void aNumberThatIsAddedCountsToo() throws Exception {
        known(List.of(0, 24), List.of(), "add.s64 %rd6, %rd1, %rd4;\nst.global.u8 [%rd6], 1;");
        known(List.of(0), List.of(), "shl.b64 %rd6, %rd4, 3;\nadd.s64 %rd6, %rd1, %rd6;\nst.global.u32 [%rd6], 1;");
        known(List.of(0), List.of(), "mad.lo.s64 %rd6, %rd4, %rd5, %rd1;\nst.global.u32 [%rd6], 1;");
        known(List.of(0), List.of(), "mad.wide.s32 %rd6, %r1, 4, %rd1;\nst.global.u32 [%rd6], 1;");
        known(List.of(0, 24), List.of(), "sub.s64 %rd6, %rd1, %rd4;\nst.global.u8 [%rd6], 1;");
    }

    @Test
    void onePointerOfSeveral() throws Exception {
        known(List.of(0, 8), List.of(), "setp.eq.u32 %p1, %r1, 0;\nselp.b64 %rd6, %rd1, %rd2, %p1;\nst.global.u32 [%rd6], 1;");
        known(List.of(0, 8), List.of(), "setp.eq.u32 %p1, %r1, 0;\nmov.u64 %rd6, %rd1;\n@%p1 mov.u64 %rd6, %rd2;\nst.global.u32 [%rd6], 1;");
        known(List.of(0, 16), List.of(), "min.u64 %rd6, %rd1, %rd3;\nst.global.u32 [%rd6], 1;");
    }

    @Test
    void structuresHoldPointers() throws Exception {
        known(List.of(56), List.of(48), "ld.param.u64 %rd6, [s+8];\nld.param.v2.u64 {%rd7, %rd8}, [s+8];\nld.global.u32 %r3, [%rd7];\n"
                + "st.global.u32 [%rd8], %r3;");
        known(List.of(0, 8, 16, 24, 32, 40, 48, 56, 64), List.of(), "mov.b64 %rd6, s;\nadd.s64 %rd6, %rd6, %rd5;\nld.param.u64 %rd7, [%rd6];\n"
                + "st.global.u32 [%rd7], 1;");
    }

    @Test
    void addressesAreRounded() throws Exception {
        known(List.of(0), List.of(), "and.b64 %rd6, %rd1, -16;\nst.global.u32 [%rd6], 1;");
        known(List.of(0), List.of(), "or.b64 %rd6, %rd1, 4;\nst.global.u32 [%rd6], 1;");
        known(List.of(0), List.of(), "and.b64 %rd6, %rd4, 17179869180;\nadd.s64 %rd6, %rd6, %rd1;\nst.global.u32 [%rd6], 1;");
        unknown("and.b64 %rd6, %rd1, -4096;\nst.global.u32 [%rd6], 1;");
        unknown("xor.b64 %rd6, %rd1, %rd2;\nst.global.u32 [%rd6], 1;");
    }

    /** An index that was loaded is a number once it is scaled or has 32 bits. */
    @Test
    void loadedIndexesAreNumbers() throws Exception {
        known(List.of(8), List.of(0), "ld.global.u32 %r3, [%rd1];\nmul.wide.u32 %rd6, %r3, 4;\nadd.s64 %rd7, %rd2, %rd6;\nst.global.u32 [%rd7], 1;");
        known(List.of(8), List.of(0), "ld.global.u64 %rd6, [%rd1];\nshl.b64 %rd8, %rd6, 2;\nadd.s64 %rd7, %rd2, %rd8;\nst.global.u32 [%rd7], 1;");
        unknown("ld.global.u64 %rd6, [%rd1];\nadd.s64 %rd7, %rd2, %rd6;\nst.global.u32 [%rd7], 1;");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ld.global.u64 %rd6, [%rd1];", "ld.global.nc.u64 %rd6, [%rd1];", "ld.const.u64 %rd6, [numbers];",
            "ld.shared.u64 %rd6, [tile];", "ld.local.u64 %rd6, [depot];", "ld.param.v2.u32 {%r3, %r4}, [p];\nmov.b64 %rd6, {%r3, %r4};",
            "atom.global.exch.b64 %rd6, [%rd1], 0;", "mov.u64 %rd6, 140000000000000;", "mov.u64 %rd6, 4096;", "mul.lo.s64 %rd6, %rd1, 1;",
            "mov.u64 %rd6, table;", "cvta.global.u64 %rd6, table;", "mov.b64 {%r3, %r4}, %rd1;\nmov.b64 %rd6, {%r3, %r4};",
            "ld.global.u64 %rd6, [%rd1];\nadd.s64 %rd6, %rd6, %rd4;", "setp.eq.u32 %p1, %r1, 0;\nld.global.u64 %rd6, [%rd1];\nselp.b64 %rd6, %rd1, "
                    + "%rd6, %p1;",
            "cvt.u32.u64 %r3, %rd1;\nmov.u32 %r4, %r3;\ncvt.u64.u32 %rd7, %r4;\nshl.b64 %rd8, %rd7, 32;\n"
                    + "or.b64 %rd9, %rd7, %rd8;\nadd.s64 %rd6, %rd9, %rd4;"})
    void addressesFromElsewhereAreNotKnown(String statements) throws Exception {
        assertTrue(unknown(statements + "\nst.global.u32 [%rd6], 1;").endsWith(": its address is not derived from a parameter."));
        unknown(statements + "\nred.add.u32 [%rd6+4], 1;");
        unknown(statements + "\nld.u32 %r9, [%rd6];");
    }

    @Test
    void variablesOfTheModuleAreNotKnown() throws Exception {
        unknown("st.global.u32 [table+4], 1;");
        unknown("ld.global.u32 %r3, [table];");
        known(List.of(), List.of(), "ld.const.u32 %r3, [numbers];\ncvta.const.u64 %rd6, numbers;\nld.u32 %r4, [%rd6];");
    }

    @Test
    void memoryThatIsNotGlobalDoesNotCount() throws Exception {
        known(List.of(), List.of(), "st.shared.u32 [tile], 1;\nld.volatile.shared.u32 %r3, [tile];\nst.local.u32 [depot], 1;\n"
                + "atom.shared.add.u32 %r3, [tile], 1;");
        known(List.of(), List.of(), """
                mov.u64 %rd6, depot;
                cvta.local.u64 %rd7, %rd6;
                add.u64 %rd8, %rd7, %rd5;
                st.u32 [%rd8], 1;
                mov.u32 %r3, tile;
                cvt.u64.u32 %rd9, %r3;
                cvta.shared.u64 %rd10, %rd9;
                st.volatile.u32 [%rd10+4], 1;""");
        known(List.of(0), List.of(), "cvta.shared.u64 %rd6, %rd5;\nsetp.eq.u32 %p1, %r1, 0;\nselp.b64 %rd7, %rd1, %rd6, %p1;\nst.u32 [%rd7], 1;");
    }

    @Test
    void copiesToSharedMemoryAreReads() throws Exception {
        known(List.of(), List.of(8), "cp.async.cg.shared.global [%r3], [%rd2], 16;\ncp.async.wait_all;");
        known(List.of(), List.of(8), "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd2], 16, [%r4];");
        assertTrue(unknown("cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r3], 16;").contains("in bulk"));
    }

    @Test
    void readOnlyLoadsCountAndPrefetchesDoNot() throws Exception {
        known(List.of(), List.of(0), "ld.global.nc.u32 %r3, [%rd1];\nprefetch.global.L2 [%rd2];");
    }

    @Test
    void threadsMaySleepAndOrderTheirAccesses() throws Exception {
        known(List.of(0), List.of(), "mov.u32 %r3, %laneid;\nnanosleep.u32 100;\nst.global.u64 [%rd1], %rd5;\nmembar.gl;\nfence.acq_rel.gpu;");
    }

    @ParameterizedTest
    @ValueSource(strings = {"mov.u64 %rd6, %clock64;", "mov.u32 %r3, %clock;", "mov.u64 %rd6, %globaltimer;", "mov.u32 %r3, %globaltimer_lo;",
            "mov.u32 %r3, %smid;", "mov.u32 %r3, %warpid;"})
    void anotherRunMayWriteElsewhere(String statement) throws Exception {
        assertTrue(unknown(statement).endsWith("another run may write elsewhere."));
    }

    /** A barrier counts threads that have ended as arrived, so that the others go on with what those have not left for them. */
    @ParameterizedTest
    @ValueSource(strings = {"bar.sync 0;", "barrier.sync 0;", "bar.warp.sync -1;", "barrier.cluster.arrive;",
            "shfl.sync.idx.b32 %r4, %r3, 0, 31, -1;",
            "vote.sync.any.pred %p1, %p2, -1;", "match.any.sync.b32 %r3, %r4, -1;", "redux.sync.add.s32 %r3, %r4, -1;", "activemask.b32 %r3;",
            "mbarrier.arrive.shared.b64 %rd6, [tile];", "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r3, %r4}, {%r5}, "
                    + "{%f1, %f2, %f3, %f4};",
            "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r3}, [tile];"})
    void threadsThatDependOnEachOtherMayNotEnd(String statement) throws Exception {
        assertTrue(unknown(statement).contains("its threads depend on each other"));
        unknown("st.global.u32 [%rd1], 1;\n" + statement);
    }

    @ParameterizedTest
    @ValueSource(strings = {"ld.volatile.global.u32 %r3, [%rd1];", "st.volatile.u32 [%rd1], 1;", "ld.relaxed.sys.global.u32 %r3, [%rd1];",
            "st.release.sys.global.u32 [%rd1], 1;", "atom.sys.global.add.u32 %r3, [%rd1], 1;", "ld.mmio.relaxed.sys.global.u32 %r3, [%rd1];",
            "ld.global.cv.u32 %r3, [%rd1];", "st.global.wt.u32 [%rd1], 1;", "membar.sys;", "fence.sc.sys;"})
    void whatTheHostMayWatchIsNotKnown(String statement) throws Exception {
        assertTrue(unknown(statement).contains(": the host may watch "));
    }

    @ParameterizedTest
    @ValueSource(strings = {"call helper, (a);", "call (b), vprintf, (a, a);", "mov.u64 %rd6, helper;\nproto: .callprototype _ (.param .b64 _);\n"
            + "call %rd6, (a), proto;", "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [image, {%r2}];", "suld.b.1d.b32.trap %r3, [%rd1, {%r2}];",
            "sust.b.1d.b32.trap [%rd1, {%r2}], %r3;", "griddepcontrol.wait;", "multimem.red.relaxed.gpu.global.add.u32 [%rd1], %r3;",
            "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r3], [%rd1, {%r2}], [%r4];"})
    void whatParametersDoNotNameIsNotKnown(String statements) throws Exception {
        unknown(statements);
        assertTrue(unknown("st.global.u32 [%rd1], 1;\n" + statements).startsWith("The accesses of k are not known because of "));
    }

    @Test
    void assertionsAreHarmless() throws Exception {
        known(List.of(0), List.of(), """
                st.param.b64 [a], %rd2;
                mov.u64 %rd6, table;
                cvta.global.u64 %rd7, %rd6;
                call.uni __assertfail, (a, a, b, a, a);
                trap;
                st.global.u32 [%rd1], 1;""");
    }

    /** Each pass sees one more register of a chain that stands in the reverse order. */
    @Test
    void theWorkIsBounded() throws Exception {
        StringBuilder chain = new StringBuilder(".reg .b64 %x<1000>;\n");
        for (int i = 0; i < 999; i++) {
            chain.append("mov.u64 %x").append(i).append(", %x").append(i + 1).append(";\n");
        }
        assertTrue(unknown(chain + "mov.u64 %x999, %rd1;\nst.global.u32 [%x0], 1;").contains("too many"));
    }

    /** The parser reads instructions with too few operands. */
    @ParameterizedTest
    @ValueSource(strings = {"mad.lo.u64 %rd6;", "mov.u64 %rd6;", "shl.b64 %rd6;", "and.b64 %rd6;", "selp.b64 %rd6;", "cvta.global.u64 %rd6;",
            "cvt.u64.u64 %rd6;", "ld.param.u64 %rd6;", "add.u64 %rd6;", "sub;", "call;"})
    void malformedInstructionsDoNoHarm(String statement) throws Exception {
        assertNotNull(writes(statement));
    }

    @ParameterizedTest
    @EnumSource(FenceMode.class)
    void theTablesOfAFencedModuleHaveThem(FenceMode mode) throws Exception {
        PtxModule module = PtxParser.parse(Files.readAllBytes(Path.of("src/test/resources/ptx/waits.90.ptx")));
        FencedTables tables = FencedTables.of(new Fencer(mode).fence(module));
        Map<String, KernelWrites> expected = new TreeMap<>(KernelFootprints.of(module));
        assertTrue(expected.size() >= 20);
        expected.keySet().retainAll(module.functions().stream().filter(f -> f.kind() == PtxFunction.Kind.ENTRY).map(PtxFunction::name)
                .filter(name -> !tables.refused().containsKey(name)).collect(Collectors.toSet()));
        assertEquals(expected, new TreeMap<>(tables.writes()));
    }

    /** The modules were made by nvcc and Triton. */
    @ParameterizedTest
    @CsvSource({"calls.75, 1, 3", "numbers.80, 5, 8", "pipelines.80, 0, 3", "pipelines.90, 0, 3", "transform.90, 1, 3", "softmax.90a.triton, 0, 1",
            "memory.90.lines, 1, 4", "threads.90, 0, 4", "hopper.90a, 0, 2", "waits.90, 18, 43"})
    void someCompiledKernelsAreKnown(String file, int known, int kernels) throws Exception {
        Map<String, KernelWrites> all = compiled(file);
        assertEquals(kernels, all.size());
        assertEquals(known, all.values().stream().filter(writes -> writes.unknown() == null).count(), all::toString);
    }

    @Test
    void compiledKernelsAccessWhatTheirSourceSays() throws Exception {
        assertEquals(new KernelWrites(List.of(0), List.of(0), null), compiled("numbers.80").get("_Z9templatedIiEvPT_"));
        assertTrue(compiled("numbers.80").get("_Z8matricesPK6__halfS1_Pf").unknown().contains("wmma.load.a"));
        assertEquals(new KernelWrites(List.of(96), List.of(), null), compiled("calls.75").get("_Z7bounded5LargePd"));
        assertTrue(compiled("memory.90.lines").get("_Z8texturesyyP6float4").unknown().endsWith("a handle names the memory."));
    }

    private static Map<String, KernelWrites> compiled(String file) throws Exception {
        return KernelFootprints.of(PtxParser.parse(Files.readAllBytes(Path.of("src/test/resources/ptx/" + file + ".ptx"))));
    }
}
