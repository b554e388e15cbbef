package io.tessera.guardian.fence.loop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.module.Fencer;
import io.tessera.guardian.ptx.parse.PtxParser;
import io.tessera.guardian.verify.Mode;
import io.tessera.guardian.verify.module.FenceVerifier;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests which loops have several passes for one look, and how these differ. */
class RepeatedPassTest {
    private static final String BEHIND = "__tessera_behind_";

    /** A kernel with a loop whose step is not known, with something more in it and behind it. */
    private static String fenced(String more, String behind) throws Exception {
        String text = new Fencer(FenceMode.MASK).fence(PtxParser.parse("""
                .version 8.5
                .target sm_90
                .address_size 64
                .visible .entry k(.param .u64 p, .param .u32 n)
                {
                .reg .b64 %rd<4>; .reg .pred %p<4>; .reg .b32 %r<8>; .reg .f32 %f<8>;
                .shared .b32 place;
                ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x; mov.u32 %r3, %ntid.x; mov.f32 %f1, 0f3F800000; mov.f32 %f2, %f1;
                l:
                """ + more + """

                add.s32 %r2, %r2, %r3;
                setp.ne.s32 %p1, %r2, %r1;
                @%p1 bra l;
                """ + behind + """

                st.global.u32 [%rd1], %r2;
                st.global.f32 [%rd1+4], %f2;
                ret;
                }
                """)).ptx();
        assertTrue(FenceVerifier.verify(text.getBytes(StandardCharsets.ISO_8859_1), Mode.MASK, false).whole(), text);
        return text;
    }

    private static int count(String text, String what) {
        return text.split(what, -1).length - 1;
    }

    @Test
    void shortLoopsHaveFourPassesAndLongerOnesTwo() throws Exception {
        String instruction = "xor.b32 %r4, %r4, %r2;\n";
        assertEquals(4, count(fenced(instruction.repeat(13), ""), "add.s32"));
        assertEquals(2, count(fenced(instruction.repeat(14), ""), "add.s32"));
        assertEquals(2, count(fenced(instruction.repeat(29), ""), "add.s32"));
        assertEquals(1, count(fenced(instruction.repeat(30), ""), "add.s32"));
        String four = fenced(instruction, "");
        assertEquals(3, count(four, "bra \t" + BEHIND));
        assertEquals(1, count(four, "sub.s32 \t%__tessera_r"), "one look for four passes");
    }

    @ParameterizedTest
    @ValueSource(strings = {
            "bar.sync 0;", "bar.warp.sync -1;", "shfl.sync.bfly.b32 %r4, %r2, 1, 31, -1;", "vote.sync.any.pred %p2, %p1, -1;",
            "match.any.sync.b32 %r4, %r2, -1;", "activemask.b32 %r4;", "redux.sync.add.s32 %r4, %r2, -1;", "ld.volatile.global.u32 %r4, [%rd1];",
            "ld.acquire.gpu.global.u32 %r4, [%rd1];", "ld.relaxed.gpu.global.u32 %r4, [%rd1];", "atom.global.cas.b32 %r4, [%rd1], 0, 1;",
            "atom.shared.exch.b32 %r4, [place], 1;", "membar.gl;", "fence.sc.gpu;", "nanosleep.u32 20;", "@%p2 exit;", "@%p2 ret;", "@%p2 bra m; m:",
            ".pragma \"nounroll\";"})
    void loopsInWhichThreadsMayWaitOrWithMoreBlocksStayAsTheyAre(String more) throws Exception {
        String text = fenced("setp.eq.u32 %p2, %r1, 3;\n".repeat(more.contains("%p2,") || more.startsWith(".pragma") ? 0 : 1) + more, "");
        assertFalse(text.contains(BEHIND), text);
    }

    /** Assemblers compile a product and a sum that leave open how they are rounded to one instruction, where they stand together. */
    @Test
    void aSumOfTheProductOfThePassBeforeIsRoundedByItself() throws Exception {
        String carried = fenced("add.f32 %f3, %f2, %f1; sqrt.approx.f32 %f4, %f3; mul.f32 %f2, %f4, %f1;", "");
        assertEquals(1, count(carried, "\tadd.f32"));
        assertEquals(3, count(carried, "\tadd.rn.f32"));
        String moved = fenced("sub.ftz.f32 %f3, %f5, %f1; mov.f32 %f5, %f2; sqrt.approx.f32 %f4, %f3; mul.f32 %f2, %f4, %f1;", "");
        assertEquals(3, count(moved, "\tsub.rn.ftz.f32"));
        String within = fenced("mul.f32 %f3, %f1, %f1; add.f32 %f2, %f3, %f2;", "");
        assertEquals(4, count(within, "\tadd.f32"), "as in the program, where both are in a pass");
        assertEquals(4, count(fenced("mul.rn.f32 %f4, %f3, %f1; add.f32 %f3, %f2, %f4;", ""), "\tadd.f32"), "a product that is rounded");
    }

    @Test
    void aLoopWhoseSumsCouldBeRoundedInAnotherWayStaysAsItIs() throws Exception {
        assertFalse(fenced("mul.f32 %f3, %f1, %f1; add.f32 %f4, %f3, %f2; sqrt.approx.f32 %f5, %f4; mul.f32 %f2, %f5, %f1;", "").contains(BEHIND),
                "a sum of a product of this pass and of one of the pass before");
        assertFalse(fenced("mul.f32 %f2, %f2, %f1;", "add.f32 %f2, %f2, %f1;").contains(BEHIND), "a sum behind the loop");
    }
}
