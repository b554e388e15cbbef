package io.tessera.guardian.fence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.fence.KernelReport.Fence;
import io.tessera.guardian.fence.proof.DataFlowOracle;
import io.tessera.guardian.ptx.parse.PtxParser;
import io.tessera.guardian.ptx.print.PtxPrinter;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Which kernels get a second body, and for blocks of which size. */
class SmallBlocksTest {
    private static final String BY_THREAD = """
            mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, tile; add.s32 %r4, %r3, %r2;
            st.shared.u32 [%r4], %r1; bar.sync 0; ld.shared.u32 %r5, [%r4];
            """;

    private static String kernel(String attributes, String bytes, String statements) {
        return ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)" + attributes
                + "\n{\n.reg .b32 %r<9>;\n.reg .pred %p<3>;\n.shared .align 4 .b8 tile[" + bytes + "];\n" + statements + "\nret;\n}\n";
    }

    private static Map<String, BodyLimits> sizes(String text) throws Exception {
        return SmallBlocks.specialise(PtxParser.parse(text), false, true).limits();
    }

    private static Map<String, BodyLimits> blocks(int x, int y) {
        return Map.of("k", new BodyLimits(new BodyLimits.BlockSize(x, y), List.of()));
    }

    @Test
    void anElementForEachThreadTellsTheSize() throws Exception {
        assertEquals(blocks(256, 0), sizes(kernel("", "1024", BY_THREAD)));
        assertEquals(blocks(64, 0), sizes(kernel("", "256", BY_THREAD)));
    }

    /** As in a scan that reads one half of an array and writes the other. */
    @Test
    void twoElementsForEachThreadTellItToo() throws Exception {
        String both = BY_THREAD + "st.shared.u32 [%r4+1024], %r5; ld.shared.u32 %r5, [%r4];";
        assertEquals(blocks(256, 0), sizes(kernel("", "2048", both)), "most accesses would be inside in blocks of 512");
        assertEquals(blocks(512, 0), sizes(kernel("", "2048", both + "ld.shared.u32 %r5, [%r6];")), "one needs a fence in any block");
    }

    @Test
    void rectanglesAreFoundToo() throws Exception {
        String statements = "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mad.lo.s32 %r3, %r2, 16, %r1; shl.b32 %r3, %r3, 2; mov.u32 %r4, tile;"
                + "add.s32 %r4, %r4, %r3; st.shared.u32 [%r4], %r1;";
        assertEquals(blocks(16, 16), sizes(kernel("", "1024", statements)));
    }

    @Test
    void whatNeedsNoFenceOrNamesItsSizeStaysAsItIs() throws Exception {
        assertEquals(Map.of(), sizes(kernel("", "4096", BY_THREAD)), "every block fits");
        assertEquals(Map.of(), sizes(kernel(".maxntid 256, 1, 1", "1024", BY_THREAD)), "it names its size");
        assertEquals(Map.of(), sizes(kernel("", "64", BY_THREAD)), "no size helps");
    }

    @Test
    void whatIsNotUnderstoodStaysAsItIs() throws Exception {
        String guarded = BY_THREAD.replace("mov.u32 %r1, %tid.x;", "setp.eq.u32 %p1, %r6, 0; @%p1 mov.u32 %r1, %tid.x;");
        assertEquals(Map.of(), sizes(kernel("", "1024", guarded)));
        assertEquals(Map.of(), sizes(kernel("", "1024", BY_THREAD.replace("%tid.x", "%tid.z"))));
        String table = "ts: .branchtargets a, b; brx.idx %r1, ts; a: b:";
        assertEquals(Map.of(), sizes(kernel("", "1024", BY_THREAD + table)));
    }

    @Test
    void theSmallBodyHasNoFencesAndTheOtherHas() throws Exception {
        FencedModule fenced = Fencer.specialising(FenceMode.MASK).fence(PtxParser.parse(kernel("", "1024", BY_THREAD)));
        KernelReport report = fenced.reports().getFirst();
        FencedModule plain = new Fencer(FenceMode.MASK, new DataFlowOracle(), false)
                .fence(PtxParser.parse(kernel("", "1024", BY_THREAD)));
        assertEquals(plain.reports().getFirst().fences().get(Fence.SHARED), report.fences().get(Fence.SHARED));
        assertTrue(report.notes().getFirst().contains("at most 256 threads"), report.notes().toString());
        PtxParser.parse(PtxPrinter.print(fenced.module()));
    }

    @Test
    void labelsOfBothBodiesDiffer() throws Exception {
        String loop = BY_THREAD + "mov.u32 %r6, 5; x: add.s32 %r6, %r6, -1; setp.gt.s32 %p1, %r6, 0; @%p1 bra x;";
        FencedModule fenced = Fencer.specialising(FenceMode.CHECK).fence(PtxParser.parse(kernel("", "1024", loop)));
        PtxParser.parse(fenced.ptx());
        assertEquals(1, fenced.ptx().lines().filter(line -> line.strip().equals("$L0:")).count(), "the original keeps its name");
        assertTrue(fenced.ptx().contains("$small_$L0:"), fenced.ptx());
    }
}
