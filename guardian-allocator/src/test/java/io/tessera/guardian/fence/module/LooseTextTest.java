package io.tessera.guardian.fence.module;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.ptx.parse.PtxParser;
import io.tessera.guardian.verify.module.FenceVerifier;

import io.tessera.guardian.verify.Mode;
import io.tessera.guardian.verify.Verdict;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** Uses that the PTX ISA does not allow, though a GPU does as programs expect: fenced, it does the same. */
class LooseTextTest {
    private static String fenced(String variables, String statements) throws Exception {
        String text = Fences.kernel(statements + "\nret;").replace(".global .u32 word;\n", variables);
        String fenced = new Fencer(FenceMode.MASK).fence(PtxParser.parse(text)).ptx();
        Verdict verdict = FenceVerifier.verify(fenced.getBytes(StandardCharsets.UTF_8), Mode.MASK, false);
        assertTrue(verdict.whole(), () -> verdict.rejected() + fenced);
        return fenced;
    }

    @Test
    void vectorsOfConstantsThatAreDeclaredWithLessAlignment() throws Exception {
        String text = fenced(".const .align 4 .b8 table[4096];\n",
                "ld.param.u64 %d1, [p]; ld.global.u64 %d2, [%d1]; mov.u64 %d3, table; add.s64 %d3, %d3, %d2; ld.const.v4.u32 {%r1, %r2, %r3, %r4}, [%d3];");
        assertTrue(text.contains(".const .align 16 .b8"), text);
    }

    @Test
    void constantsThatFillTheirBankStayAsTheyAre() throws Exception {
        String text = fenced(".const .align 4 .b8 table[65536];\n", "ld.const.u32 %r1, [table];");
        assertFalse(text.contains(".align 16 .b8"), text);
        StringBuilder many = new StringBuilder();
        for (int i = 0; i < 2000; i++) { // 40,000 bytes, and 64,000 if they were aligned
            many.append(".const .align 4 .b8 t").append(i).append("[16];\n.const .align 4 .b8 u").append(i).append("[4];\n");
        }
        assertFalse(fenced(many.toString(), "ld.const.u32 %r1, [t7];").contains(".align 16 .b8"));
    }

    /** Rows of 16 bytes: every other one does not begin at a multiple of 32. */
    @Test
    void matricesOfBytesBeginAtMultiplesOfSixteen() throws Exception {
        String text = fenced("",
                ".shared .align 32 .b8 tile[8192]; mov.u32 %r1, %tid.x; shl.b32 %r1, %r1, 4; mov.u32 %r2, tile; add.u32 %r2, %r2, %r1;"
                        + " wmma.load.a.sync.aligned.row.m16n16k16.shared.s8 {%r3, %r4}, [%r2], 80;");
        assertFalse(text.contains(", -32;"), text);
    }

    /** All lanes of a warp exchange with the mask of its lower half: with masks that differ they would wait for each other. */
    @Test
    void lanesThatExchangeTogetherHaveOneMask() throws Exception {
        String text = fenced("",
                "mov.u32 %r1, %tid.x; mov.u32 %r2, 65535; shfl.sync.up.b32 %r3, %r1, 16, 0, %r2; shfl.sync.up.b32 %r4, %r3, 8, 0, %r2;");
        assertEquals(2, text.split("activemask.b32", -1).length, "once for both" + text);
        String one = fenced("", "mov.u32 %r1, %tid.x; mov.u32 %r2, 65535; redux.sync.add.u32 %r3, %r1, %r2;");
        assertTrue(one.contains("activemask"), one);
        String several = fenced("", "mov.u32 %r1, %tid.x; ld.param.u32 %r2, [p]; redux.sync.add.u32 %r3, %r1, %r2;");
        assertFalse(several.contains("activemask"), "what a reduction is of is what each lane's mask says");
    }

    /** Lanes of another part would have to be at the same barrier then, which they reach at another time. */
    @Test
    void partsOfAWarpWaitForThemselvesAlone() throws Exception {
        String text = fenced("", "mov.u32 %r1, %tid.x; shr.u32 %r3, %r1, 4; shl.b32 %r3, %r3, 4; mov.u32 %r4, 65535; shl.b32 %r2, %r4, %r3;"
                + " bar.warp.sync %r2; shfl.sync.up.b32 %r3, %r1, 8, 0, %r2;");
        assertFalse(text.contains("activemask"), text);
    }

    /** A mask that is not the same on all ways to it is fenced. */
    @Test
    void aMaskThatMayBeAnotherOneIsFenced() throws Exception {
        assertTrue(fenced("", "mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 5; @%p1 mov.u32 %r2, -1; shfl.sync.up.b32 %r3, %r1, 16, 0, %r2;")
                .contains("lanemask_eq"));
        String text = Fences
                .kernel("mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 5; @%p1 bra l; mov.u32 %r2, -1; l: shfl.sync.up.b32 %r3, %r1, 16, 0, %r2; ret;");
        String plain = Fencer.withoutProofs(FenceMode.MASK, false).fence(PtxParser.parse(text)).ptx();
        assertTrue(FenceVerifier.verify(plain.getBytes(StandardCharsets.UTF_8), Mode.MASK, false).whole(), plain);
    }

    /** A compiler makes the mask of all lanes where it likes. */
    @Test
    void theMaskOfAllLanesIsLeftAsItIs() throws Exception {
        String text = fenced("",
                "mov.u32 %r1, %tid.x; mov.u32 %r2, -1; setp.eq.u32 %p1, %r1, 5; @%p1 bra l; add.u32 %r1, %r1, 1; l: shfl.sync.up.b32 %r3, %r1, 16, 0, %r2;");
        assertFalse(text.contains("lanemask") || text.contains("activemask"), text);
    }
}
