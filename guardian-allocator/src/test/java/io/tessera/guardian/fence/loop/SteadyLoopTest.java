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

/** Loops over a grid or a block: several of their passes are made in a row with nothing between them, if that many are left. */
class SteadyLoopTest {
    private static final String SINGLE = "__tessera_single_";
    private static final String ADD = "add.s32 %r2, %r2, %r3;\n";
    private static final String LESS = "setp.lt.s32 %p1, %r2, %r1;\n";

    private static String fenced(FenceMode mode, String pass, String branch) throws Exception {
        String text = new Fencer(mode).fence(PtxParser.parse("""
                .version 8.5
                .target sm_90
                .address_size 64
                .visible .entry k(.param .u64 p, .param .u32 n)
                {
                .reg .b64 %rd<6>; .reg .pred %p<4>; .reg .b32 %r<8>;
                ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x; mov.u32 %r3, %ntid.x;
                mov.u32 %r7, %nctaid.x; mul.lo.u32 %r3, %r3, %r7; cvt.u64.u32 %rd4, %r3; cvt.u64.u32 %rd5, %r1; cvt.u64.u32 %rd3, %r2;
                bra m;
                l:
                m:
                """ + pass + branch + """

                st.global.u32 [%rd1], %r2;
                ret;
                }
                """)).ptx();
        assertTrue(FenceVerifier.verify(text.getBytes(StandardCharsets.ISO_8859_1), Mode.valueOf(mode.name()), false).whole(), text);
        return text;
    }

    private static int count(String text, String what) {
        return text.split(what, -1).length - 1;
    }

    @Test
    void fourPassesInARowAndSingleOnes() throws Exception {
        for (FenceMode mode : FenceMode.values()) {
            String text = fenced(mode, "brev.b32 %r4, %r2;\n" + ADD + LESS, "@%p1 bra l;");
            assertEquals(5, count(text, "\tbrev.b32"), text);
            String row = text.substring(text.indexOf("\tbrev.b32"), text.indexOf("\n" + SINGLE));
            assertEquals(4, count(row, "\tbrev.b32"));
            assertEquals(2, count(row, "bra"), "back, and behind the loop: " + row);
            String before = text.substring(0, text.indexOf("\tbrev.b32"));
            assertTrue(before.lastIndexOf("bra \t" + SINGLE) > before.lastIndexOf("$L1:"), "behind all labels that lead to the loop: " + before);
        }
    }

    @Test
    void countersOf64Bits() throws Exception {
        String text = fenced(FenceMode.MASK, "add.s64 %rd3, %rd3, %rd4;\nsetp.lt.u64 %p1, %rd3, %rd5;\n", "@%p1 bra l;");
        assertTrue(text.contains(SINGLE), text);
        assertTrue(text.contains("2305843009213693952"), text);
    }

    @ParameterizedTest
    @ValueSource(strings = {
            ADD + "setp.le.s32 %p1, %r2, %r1;", ADD + "setp.ne.s32 %p1, %r2, %r1;", "sub.s32 %r2, %r2, %r3;" + LESS, "add.s32 %r2, %r3, %r3;" + LESS,
            LESS + ADD, ADD + ADD + LESS, ADD + "add.s32 %r3, %r3, 1;" + LESS, ADD + "add.s32 %r1, %r1, 1;" + LESS, "@%p2 " + ADD + LESS,
            ADD + "@%p2 " + LESS,
            ADD + LESS + "not.pred %p1, %p1;", "add.s32 %r2, %r2, %r2;" + LESS, ADD + "setp.lt.and.s32 %p1, %r2, %r1, %p2;",
            "add.s64 %rd3, %rd3, %rd4; setp.lt.s32 %p1, %r2, %r1;"})
    void otherLoopsAskBetweenPasses(String pass) throws Exception {
        assertFalse(fenced(FenceMode.MASK, pass, "@%p1 bra l;").contains(SINGLE));
        assertFalse(fenced(FenceMode.MASK, ADD + LESS, "@!%p1 bra l;").contains(SINGLE));
    }
}
