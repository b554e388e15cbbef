package io.tessera.guardian.fence.module;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.proof.oracle.DataFlowOracle;
import io.tessera.guardian.ptx.parse.PtxParser;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the limits with which accesses to shared memory are compared, and where they are computed. */
@Timeout(180)
class SharedLimitsTest {
    private static final String STORE = "@%p1 bra l#; ld.global.u32 %r1, [%rd1]; mov.u32 %r2, tile; add.s32 %r2, %r2, %r1; st.shared.u32 [%r2], %r1; l#:\n";

    private static String body(String target, String variables, String statements) throws Exception {
        String text = ".version 8.0\n.target " + target
                + "\n.address_size 64\n.extern .shared .align 16 .b8 open[];\n.visible .entry k(.param .u64 p)\n{\n"
                + ".reg .b32 %r<10>;\n.reg .b64 %rd<10>;\n.reg .pred %p<3>;\n" + variables + "ld.param.u64 %rd1, [p];\n" + statements + "ret;\n}\n";
        String fenced = new Fencer(FenceMode.MASK, new DataFlowOracle(), false).fence(PtxParser.parse(text)).ptx();
        PtxParser.parse(fenced);
        return fenced;
    }

    private static int count(String text, String part) {
        return (text.length() - text.replace(part, "").length()) / part.length();
    }

    private static String stores(int times) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < times; i++) {
            text.append(STORE.replace("#", Integer.toString(i)));
        }
        return text.toString();
    }

    @Test
    void aVariablesEndIsAConstantThatIsMadeOnceWhereItIsUsedTwice() throws Exception {
        String one = body("sm_90", ".shared .align 16 .b8 tile[1024];\n", stores(1));
        assertEquals(1, count(one, "$v1+1020"), one);
        assertTrue(one.indexOf("$v1+1020") > one.indexOf("bra"), one);
        String three = body("sm_90", ".shared .align 16 .b8 tile[1024];\n", stores(3));
        assertEquals(1, count(three, "$v1+1020"), three);
        assertTrue(three.indexOf("$v1+1020") < three.indexOf("bra"), three);
        assertEquals(3, count(three, "min.u32"), three);
        assertFalse(three.contains("dynamic_smem_size"), three);
    }

    @Test
    void aVariableThatIsLessAlignedThanItsAccessesEndsWithTheBlock() throws Exception {
        String odd = body("sm_90", ".shared .align 1 .b8 tile[1023];\n", stores(1));
        assertTrue(odd.contains("dynamic_smem_size"), odd);
        assertFalse(odd.contains("$v1+"), odd);
    }

    @Test
    void whetherThereIsAnyDynamicMemoryIsAskedOnceFromHopperOn() throws Exception {
        String hopper = body("sm_90", "", stores(3).replace("tile", "open"));
        int first = hopper.indexOf("@%p0");
        assertTrue(hopper.indexOf("setp.lt.u32") < first && hopper.indexOf("setp.lt.u32", first) > hopper.indexOf("ret;"), hopper);
        assertEquals(3, count(hopper, "min.u32"), hopper);
        assertEquals(1, count(hopper, "sub.u32"), "the limit is made once");
        String ampere = body("sm_80", "", stores(3).replace("tile", "open"));
        assertTrue(count(ampere, "setp.lt.u32") >= 3, ampere);
    }

    @Test
    void aSizeThatIsChosenFromTwoConstantsIsNotCut() throws Exception {
        String copy = "selp.b32 %r5, 16, 0, %p1; cp.async.cg.shared.global [tile], [%rd1], 16, %r5;\n";
        String variable = ".shared .align 16 .b8 tile[1024];\n";
        assertFalse(body("sm_90", variable, copy).contains("min.u32"));
        assertTrue(body("sm_90", variable, copy.replace("16, 0, %p1;", "17, 0, %p1;")).contains("min.u32"));
        assertTrue(body("sm_90", variable, copy.replace("%p1;", "%p1; l:")).contains("min.u32"), "control may come from elsewhere");
        assertTrue(body("sm_90", variable, copy.replace("%p1;", "%p1; add.u32 %r5, %r5, %r6;")).contains("min.u32"));
        assertTrue(body("sm_90", variable, copy.replace("selp", "@%p2 selp")).contains("min.u32"));
    }

    /** A text for an older GPU, where a block need not have any shared memory: a branch at each access would keep products and sums from being fused. */
    @Test
    void theGpuSaysWhetherBlocksHaveSharedMemoryForCertain() throws Exception {
        String text = ".version 8.0\n.target sm_75\n.address_size 64\n.extern .shared .align 16 .b8 open[];\n.visible .entry k()\n{\n.reg .b32 %r<3>;\n"
                + "mov.u32 %r1, %tid.x;\nld.shared.u32 %r2, [%r1];\nst.shared.u32 [%r2], %r1;\nret;\n}\n";
        Fencer fencer = new Fencer(FenceMode.MASK);
        assertEquals(2, count(fencer.fence(PtxParser.parse(text)).ptx(), "setp.lt.u32"));
        assertEquals(2, count(fencer.on(89).fence(PtxParser.parse(text)).ptx(), "setp.lt.u32"));
        String certain = fencer.on(90).fence(PtxParser.parse(text)).ptx();
        assertEquals(2, count(certain, "setp.lt.u32"), "where the kernel begins, and for blocks with little");
        assertTrue(certain.indexOf("setp.lt.u32") < certain.indexOf("%tid.x"), certain);
    }
}
