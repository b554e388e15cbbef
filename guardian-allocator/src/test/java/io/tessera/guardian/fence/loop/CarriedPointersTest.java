package io.tessera.guardian.fence.loop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.module.Fencer;
import io.tessera.guardian.ptx.parse.PtxParser;
import io.tessera.guardian.verify.Mode;
import io.tessera.guardian.verify.module.FenceVerifier;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Pointers that loops in parts move are fenced where a part begins, and not in its rounds. */
class CarriedPointersTest {
    /** The end of each fence of an address. */
    private static final String FENCED = "mov.b64 \\t%__tessera_d\\d+, \\{";

    private static String fenced(FenceMode mode, String round) throws Exception {
        String text = new Fencer(mode).fence(PtxParser.parse("""
                .version 8.5
                .target sm_90
                .address_size 64
                .visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n)
                {
                .reg .b64 %rd<6>; .reg .pred %p<4>; .reg .b32 %r<8>;
                ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; ld.param.u32 %r1, [n]; mov.u32 %r2, 0;
                l:
                """ + round + """

                @%p1 bra l;
                ret;
                }
                """)).ptx();
        assertTrue(FenceVerifier.verify(text.getBytes(StandardCharsets.ISO_8859_1), Mode.valueOf(mode.name()), false).whole(), text);
        return text;
    }

    /** Returns the number of fences between the loop's head and the branch that closes it. */
    private static int inRounds(String text) {
        String head = text.substring(text.indexOf("\n$L0:"));
        return head.substring(0, head.indexOf("bra \t$L0;")).split(FENCED, -1).length - 1;
    }

    @ParameterizedTest
    @EnumSource(names = {"MASK", "MODULO"})
    void copies(FenceMode mode) throws Exception {
        String copy = "ld.global.u32 %r4, [%rd1]; st.global.u32 [%rd2+8], %r4; st.global.u32 [%rd2], %r4;\n"
                + "add.s64 %rd1, %rd1, 1024; sub.s64 %rd2, %rd2, 16; add.s32 %r2, %r2, 256; setp.lt.s32 %p1, %r2, %r1;";
        String text = fenced(mode, copy);
        assertEquals(0, inRounds(text), text);
        String part = text.substring(text.indexOf("__tessera_part_0:"), text.indexOf("\n$L0:"));
        assertEquals(2, part.split(FENCED, -1).length - 1, part);
    }

    @ParameterizedTest
    @ValueSource(strings = {"setp.ne.s32 %p1, %r2, %r1;", "setp.lt.u32 %p1, %r2, %r1;"})
    void aPointerThatIsFollowedInTheMiddleOfItsSteps(String compare) throws Exception {
        assertEquals(0, inRounds(fenced(FenceMode.MASK, "add.s64 %rd3, %rd1, 4; ld.global.u32 %r4, [%rd3]; add.s64 %rd1, %rd3, 4;\n"
                + "st.global.u32 [%rd1+-8], %r4; add.s32 %r2, %r2, 1;\n" + compare)));
    }

    @Test
    void whatMovesTooFarIsFencedInEachRound() throws Exception {
        for (String step : new String[] {"2700000000", "-2700000000", "%rd2"}) {
            String text = fenced(FenceMode.MASK,
                    "ld.global.u32 %r4, [%rd1]; add.s64 %rd1, %rd1, " + step + "; add.s32 %r2, %r2, 1; setp.lt.s32 %p1, %r2, %r1;");
            assertEquals(1, inRounds(text), text);
        }
    }

    /** The first path to the load reaches the pointer through another register. */
    @Test
    void aPointerThatIsExchangedIsFencedInEachRound() throws Exception {
        String text = fenced(FenceMode.MASK, "ld.global.u64 %rd3, [%rd1]; mov.u64 %rd4, %rd1; mov.u64 %rd1, %rd2; mov.u64 %rd2, %rd4;\n"
                + "add.s32 %r2, %r2, 1; setp.lt.s32 %p1, %r2, %r1;");
        assertTrue(inRounds(text) > 0, text);
    }
}
