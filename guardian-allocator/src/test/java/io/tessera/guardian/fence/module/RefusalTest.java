package io.tessera.guardian.fence.module;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FenceRefusedException;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.fence.proof.oracle.SyntacticOracle;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.parse.PtxParser;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A refusal says its name and line; a kernel that can be fenced is left where another one cannot. */
class RefusalTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "multimem.st.global.u32 [%d1], %r1;|multicast", "alloca.u64 %d1, %d2;|stack",
            "tensormap.replace.tile.rank.global.b1024.b32 [%d1], 3;|only the driver may",
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %d1, %d2, 1, 1, 1, 0, 0;|descriptor",
            "ld.global.later.u32 %r1, [%d1];|does not know", "bar.sync 16;|no barrier", "bar.sync 0, 33;|33 threads",
            "barrier.cta.arrive 0, 1056;|1056 threads", "bar.sync 0, 0;|0 threads", "bar.red.popc.u32 %r1, 17, %p1;|no barrier",
            "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%r2], [%r1], 16, [%r3];|run alone",
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%d1], 24, [%r3];|run alone",
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%d1], 262160, [%r3];|run alone",
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r2], [%d1], 16, [%r3], %h1;|multicast",
            "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r2], [%d1, {%r1}], [%r3];|its map alone",
            "mbarrier [%r1];|run alone", "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r1], 16; mbarrier.pending_count.b64 %r2, %d1;|run alone",
            "mbarrier.init.shared.b64 [%r1];|run alone", "mbarrier.test_wait.shared.b64 [%r1], %d1;|run alone",
            "mbarrier.later.shared.b64 [%r1];|does not know", "mbarrier.arrive.shared.b64 %d1;|no address",
            "cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r1], 24;|no multiple of 16",
            "cp.async.ca.shared.global [%r1], [%d1], 4, 8;|reads 8 of 4", "ld.param.u32 %r1, [map+126];|leaves its variable",
            "mov.u32 %r1, word;|less than 64 bits", "call nothing;|nothing is named",
            "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%d1, {%r1}], [%r2];|run alone",
            "cp.async.bulk.prefetch.tensor.1d.L2.global.tile [%d1, {%r1}];|tensor map",
            "st.param.u64 [%d1], %d2;|is not known", "istypep.texref %p1, %d1;|opaque handle", "bra %d1;|where it goes"})
    void isRefusedByNameAndLine(String statement, String reason) {
        Exception refused = assertThrows(Exception.class, () -> Fences.plain(Fences.kernel(statement + "\nret;"), FenceMode.MASK));
        assertTrue(refused.getMessage().contains(reason), refused.getMessage());
        if (refused instanceof FenceRefusedException fence) {
            assertEquals(12, fence.line(), refused.getMessage());
        }
    }

    @Test
    void whoIsAloneHasTheBarriersOfTheDevice() throws Exception {
        String text = Fences.kernel(".shared .align 8 .b64 b;\nmbarrier.init.shared.b64 [b], 1;\nret;");
        assertTrue(Fences.plain(text, FenceMode.NONE).ptx().contains("mbarrier.init"));
        for (FenceMode mode : List.of(FenceMode.MASK, FenceMode.MODULO, FenceMode.CHECK)) {
            FencedModule fenced = Fences.plain(text, mode);
            assertTrue(!fenced.ptx().contains("mbarrier.init"));
            assertTrue(fenced.reports().getFirst().notes().getFirst().contains("mbarriers"), fenced.reports().toString());
        }
    }

    @Test
    void namesOfOursAreKept() {
        String text = Fences.kernel("ret;").replace("word", "__tessera_window");
        assertTrue(assertThrows(FenceRefusedException.class, () -> Fences.plain(text, FenceMode.MASK)).getMessage()
                .contains("keep for themselves"));
    }

    @Test
    void whatAFunctionCallsItsOwnIsItsOwn() throws Exception {
        String text = Fences
                .plain(Fences.kernel(".reg .b32 %__tessera_r<9>;\n__tessera_l: mov.u32 %__tessera_r1, 1;\nst.global.u32 [%d1], %__tessera_r1;"
                        + "\nret;"), FenceMode.MASK)
                .ptx();
        assertTrue(text.contains("mov.u32 \t%r0, 1;") && text.contains("], %r0;") && !text.contains("__tessera_l"), text);
    }

    @Test
    void shortAddressesAreRefused() {
        assertThrows(FenceRefusedException.class, () -> new Fencer(FenceMode.MASK).fence(PtxParser.parse(
                ".version 8.0\n.target sm_90\n.address_size 32\n.entry k() { ret; }")));
    }

    @Test
    void recursionTakesItsKernelsOut() throws Exception {
        String text = ".version 8.0\n.target sm_90\n.address_size 64\n.func b();\n.func a() { call b; ret; }\n"
                + ".func b() { call a; ret; }\n.entry bad() { call a; ret; }\n.entry good() { ret; }\n";
        FencedModule fenced = Fences.plain(text, FenceMode.MASK);
        assertEquals(List.of("bad"), List.copyOf(fenced.refused().keySet()));
        assertTrue(fenced.refused().get("bad").getMessage().contains("may call itself"));
        assertTrue(fenced.module().entry("good").isPresent() && fenced.module().entry("bad").isEmpty());
    }

    /** A function that is refused is no target of pointers any more, so that others do not call themselves by it. */
    @Test
    void whoeverMayCallARecursiveFunctionByAPointerStays() throws Exception {
        String text = ".version 8.0\n.target sm_90\n.address_size 64\n.func f(.param .b32 p);\n.func h(.param .b64 p) { .reg .b64 %d<2>; ld.param.u64 %d1, [p];"
                + " { .param .b32 a; q: .callprototype _ (.param .b32 _); call %d1, (a), q; } ret; }\n.func f(.param .b32 p) { { .param .b32 a; call f, (a); }"
                + " { .param .b64 c; call h, (c); } ret; }\n.global .u64 t = f;\n"
                + ".entry k(.param .b64 p) { .reg .b64 %d<2>; ld.param.u64 %d1, [p]; { .param .b64 c; st.param.u64 [c], %d1; call h, (c); } ret; }\n";
        FencedModule fenced = Fences.plain(text, FenceMode.MASK);
        assertEquals(Map.of(), fenced.refused());
        List<String> left = fenced.module().functions().stream().map(PtxFunction::name).toList();
        assertTrue(left.contains("h") && left.contains("k") && !left.contains("f"), left.toString());
    }

    /**
     * An assembler that finds a function with several results drops its calling convention, and with it the stack. Therefore fenced text has neither
     * functions that call themselves nor calls through a pointer.
     */
    @Test
    void functionsWithSeveralResultsAreCalledByNameAndNotByThemselves() throws Exception {
        String text = ".version 8.0\n.target sm_90\n.address_size 64\n"
                + ".func (.reg .b32 %a, .reg .b32 %b) two(.reg .b32 %x) { .reg .b32 %r<4>; mov.u32 %r1, %x; INSIDE mov.u32 %a, %x; mov.u32 %b, %x; ret; }\n"
                + ".entry k() { .reg .b32 %r<4>; .reg .b64 %d<2>;\npair: .callprototype (.reg .b32 _, .reg .b32 _) _ (.reg .b32 _);\n"
                + "mov.u32 %r1, 5; CALL ret; }\n.entry good() { ret; }\n";
        String direct = "call (%r2, %r3), two, (%r1);";
        assertEquals(Map.of(), Fences.plain(text.replace("INSIDE", "").replace("CALL", direct), FenceMode.MASK).refused());
        assertTrue(Fences.plain(text.replace("INSIDE", direct).replace("CALL", direct), FenceMode.MASK).refused().get("k").getMessage()
                .contains("may call itself"));
        String pointer = "mov.u64 %d1, two; call (%r2, %r3), %d1, (%r1), pair;";
        assertTrue(Fences.plain(text.replace("INSIDE", "").replace("CALL", pointer), FenceMode.MASK).refused().get("k").getMessage()
                .contains("several results"));
    }

    @Test
    void aDebuggersTargetIsLeftOut() throws Exception {
        String text = ".version 8.0\n.target sm_90, debug\n.address_size 64\n.visible .entry k() { ret; }\n";
        assertTrue(Fences.plain(text, FenceMode.MASK).ptx().contains(".target sm_90\n"), "code for a debugger keeps its frames apart");
    }

    @ParameterizedTest
    @CsvSource({"malloc, heap", "cudaLaunchDeviceV2, outside all limits", "other, defined in no module"})
    void externalFunctionsAreRefused(String name, String reason) throws Exception {
        String text = ".version 8.0\n.target sm_90\n.address_size 64\n.extern .func " + name + "();\n.entry bad() { call "
                + name + "; ret; }\n.entry good() { ret; }\n";
        FencedModule fenced = Fences.plain(text, FenceMode.MASK);
        assertTrue(fenced.refused().get("bad").reason().contains(reason), fenced.refused().toString());
    }

    @Test
    void whatPassesArgumentsOfTheDriverIsPlain() throws Exception {
        String flow = Fences.read("flow.ptx");
        for (String text : List.of(flow.replace("[g], %d5;", "[g], %d5;\n\t@%p1 st.param.b64 [f], %d1;"),
                flow.replace("[g], %d5;", "[g], %d5;\nbetween:"), flow.replace("vprintf, (f, g)", "vprintf, (g, g)"),
                flow.replace("[g], %d5;", "[g], %d5;\n\tst.param.b32 [f+4], %r1;"))) {
            assertTrue(Fences.plain(text, FenceMode.MASK).refused().get("k").reason().contains("not understood"));
        }
    }

    @Test
    void linkedFunctionsDoNotKnowTheirCallersMemory() throws Exception {
        String text = ".version 8.0\n.target sm_90\n.address_size 64\n.func f(.param .b64 p) { .reg .b64 %d<2>; "
                + "ld.param.b64 %d1, [p]; st.u32 [%d1], 1; ret; }\n.entry good() { ret; }\n.extern .func other();\n"
                + ".entry calls() { call other; ret; }\n.extern .func malloc();\n.entry bad() { call malloc; ret; }\n";
        FencedModule fenced = new Fencer(FenceMode.MASK, new SyntacticOracle(), true).fence(PtxParser.parse(text));
        assertEquals(List.of("bad"), List.copyOf(fenced.refused().keySet()));
        assertTrue(!fenced.ptx().contains("st.u32") && fenced.ptx().contains("call \tother"));
    }
}
