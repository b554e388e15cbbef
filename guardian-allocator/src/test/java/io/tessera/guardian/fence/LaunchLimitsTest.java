package io.tessera.guardian.fence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.ptx.Operand;
import io.tessera.guardian.ptx.parse.PtxParser;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Which limits of grids and parameters kernels get a second body for. */
class LaunchLimitsTest {
    /** {@code for (i = thread; i < n; i += threads) sum += p[i]}. */
    private static final String BY_GRID = """
            ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
            mad.lo.s32 %r5, %r2, %r3, %r4; mov.u32 %r6, %nctaid.x; mul.lo.s32 %r7, %r3, %r6; setp.ge.s32 %p1, %r5, %r1; @%p1 bra done;
            loop: mul.wide.s32 %rd2, %r5, 4; add.s64 %rd3, %rd1, %rd2; ld.global.u32 %r8, [%rd3];
            add.s32 %r5, %r5, %r7; setp.lt.s32 %p2, %r5, %r1; @%p2 bra loop; done:
            """;

    /** {@code for (k = 0; k < n; k++) sum += p[k * width]}. */
    private static final String BY_ROWS = """
            ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; ld.param.u32 %r2, [width]; mul.wide.s32 %rd2, %r2, 4; mov.u32 %r5, 0;
            loop: ld.global.u32 %r8, [%rd1]; ld.global.u32 %r9, [%rd1+4];
            add.s64 %rd1, %rd1, %rd2; add.s32 %r5, %r5, 1; setp.lt.s32 %p2, %r5, %r1; @%p2 bra loop;
            """;

    private static String kernel(String statements) {
        return ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n, .param .u32 width)"
                + "\n{\n.reg .b32 %r<10>;\n.reg .b64 %rd<4>;\n.reg .pred %p<3>;\n" + statements + "\nret;\n}\n";
    }

    private static Map<Operand, Long> limits(String statements) throws Exception {
        BodyLimits found = SmallBlocks.specialise(PtxParser.parse(kernel(statements)), false, true).limits().get("k");
        Map<Operand, Long> most = new java.util.HashMap<>();
        (found == null ? List.<BodyLimits.Limit>of() : found.limits()).forEach(limit -> most.put(limit.source(), limit.most()));
        return most;
    }

    private static Operand parameter(String name) {
        return new Operand.Address(new Operand.Named(name), 0);
    }

    /** The part of a kernel that launches within the limits run. */
    private static String second(String statements) throws Exception {
        String text = Fencer.specialising(FenceMode.MASK).fence(PtxParser.parse(kernel(statements))).ptx();
        return text.substring(0, text.indexOf("$small_any:"));
    }

    @Test
    void aLoopThatGoesOnByTheGridHasNone() throws Exception {
        assertEquals(Map.of(), limits(BY_GRID), "it looks at the stop word whatever its limits are");
    }

    @Test
    void rowsThatAreShortAndFewNeedNoFenceInTheLoop() throws Exception {
        Map<Operand, Long> limits = limits(BY_ROWS);
        assertEquals(2, limits.size(), limits.toString());
        assertTrue(limits.get(parameter("$v2")) >= limits.get(parameter("$v1")), "rows may be longer than there are many");
        assertTrue(4 * limits.get(parameter("$v2")) * limits.get(parameter("$v1")) < WindowConstants.GUARD_BYTES);
        String body = second(BY_ROWS);
        assertFalse(body.substring(body.indexOf("$L0:")).contains("and.b32"), body);
    }

    @Test
    void whatHasNoLoopOrNeedsNothingInItStaysAsItIs() throws Exception {
        assertEquals(Map.of(), limits(BY_GRID.replace("@%p2 bra loop;", "")));
        assertEquals(Map.of(), limits(BY_GRID.replace("%r5, %r5, %r7", "%r5, %r5, 1")));
        assertEquals(Map.of(), limits(BY_GRID.replace("mov.u32 %r6, %nctaid.x", "ld.global.u32 %r6, [%rd1]")), "no limit helps");
    }

    @Test
    void whatACallGivesBackIsNoParameter() throws Exception {
        String call = "{ .param .b32 given; call.uni (given), f, (); ld.param.b32 %r1, [given]; }";
        String text = kernel(BY_ROWS.replace("ld.param.u32 %r1, [n];", call)).replace(".visible .entry",
                ".func (.param .b32 back) f() { .reg .b32 %r<2>; mov.u32 %r1, 7; st.param.b32 [back], %r1; ret; }\n.visible .entry");
        PtxParser.parse(Fencer.specialising(FenceMode.MASK).fence(PtxParser.parse(text)).ptx());
        BodyLimits found = SmallBlocks.specialise(PtxParser.parse(text), false, true).limits().get("k");
        assertTrue(found == null || found.limits().stream().noneMatch(limit -> limit.source().equals(parameter("given"))), String.valueOf(found));
    }
}
