package io.tessera.guardian.verify.module;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.verify.Mode;
import io.tessera.guardian.verify.UnverifiedException;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A fact that holds only where a predicate does holds for nothing that is done without that predicate. */
class ConditionsTest {
    private static final String HEAD = """
            .version 8.0
            .target sm_80
            .address_size 64
            .visible .const .align 16 .b64 __tessera_window[8];
            .visible .entry k(.param .u64 p)
            {
            .reg .b32 %r<12>; .reg .b64 %rd<9>; .reg .pred %p<6>;
            ld.param.u64 %rd1, [p];
            mov.u32 %r9, %tid.x;
            setp.eq.u32 %p2, %r9, 7;
            setp.eq.u32 %p4, %r9, 8;
            mov.b64 {%r1, %r2}, %rd1;
            and.b32 %r3, %r1, 7;
            setp.ne.s32 %p1, %r3, 0;
            and.pred %p3, %p1, %p2;
            """;
    /** Threads with an address that is not aligned end, if the second predicate holds. */
    private static final String SOME = "@%p3 exit;\n";
    /** They end in any case. */
    private static final String ALL = "@%p1 exit;\n";
    private static final String ACCESS = """
            ld.const.v2.u32 {%r4, %r5}, [__tessera_window];
            mov.b64 {%r6, %r7}, %rd2;
            and.b32 %r8, %r7, %r5;
            or.b32 %r8, %r8, %r4;
            mov.b64 %rd4, {%r6, %r8};
            ld.global.u64 %rd5, [%rd4];
            out:
            ret;
            }
            """;

    private static Map<String, UnverifiedException> rejected(String before, String between, Mode mode) throws UnverifiedException {
        return FenceVerifier.verify(GridLooks.bytes(HEAD + before + between + ACCESS), mode, false).rejected();
    }

    /** Accepted after some text if all threads with other addresses have ended, and not if some have. */
    private static void onlyOfAll(String before, String between) throws UnverifiedException {
        assertEquals(Map.of(), rejected(before + ALL, between, Mode.MASK), between);
        Map<String, UnverifiedException> some = rejected(before + SOME, between, Mode.MASK);
        assertTrue(some.containsKey("k") && some.get("k").getMessage().contains("in bounds and aligned"), () -> between + some);
    }

    private static void whatIsMade(String before) throws UnverifiedException {
        onlyOfAll(before, "mov.u64 %rd2, %rd1;\n");
        onlyOfAll(before, "add.u64 %rd2, %rd1, 8;\n");
        onlyOfAll(before, "selp.b64 %rd2, %rd1, 64, %p4;\n");
        onlyOfAll(before, "mov.u64 %rd2, 64;\n@%p4 mov.u64 %rd2, %rd1;\n");
        onlyOfAll(before, "mov.u64 %rd2, 64;\n@%p4 bra over;\nmov.u64 %rd2, %rd1;\nover:\n");
        onlyOfAll(before,
                "mov.u64 %rd2, 64;\nround:\nmov.u64 %rd2, %rd1;\nadd.u32 %r9, %r9, 1;\nsetp.lt.u32 %p5, %r9, 9;\n@%p5 bra round;\n");
        onlyOfAll(before, "setp.gt.u64 %p5, %rd1, 17179869184;\n@%p5 bra out;\nmov.u64 %rd2, %rd1;\n");
    }

    @Test
    void whatIsMadeOfAnAddressThatIsAlignedUnderACondition() throws UnverifiedException {
        whatIsMade("");
        onlyOfAll("", "mad.lo.u64 %rd2, %rd1, 1, 16;\n");
        onlyOfAll("", "mul.lo.u64 %rd2, %rd1, 3;\n");
        onlyOfAll("", "and.b64 %rd2, %rd1, 1099511627775;\n");
        onlyOfAll("", "setp.gt.u64 %p5, %rd1, 17179869184;\n@%p5 bra out;\nshl.b64 %rd2, %rd1, 0;\n");
    }

    /** As above, for an address in the window, as in mode {@code check}. */
    @Test
    void whatIsMadeOfAnAddressThatIsInTheWindowUnderACondition() throws UnverifiedException {
        String outside = """
                ld.const.v2.u32 {%r4, %r5}, [__tessera_window];
                not.b32 %r8, %r5;
                and.b32 %r8, %r2, %r8;
                xor.b32 %r8, %r8, %r4;
                or.b32 %r3, %r3, %r8;
                setp.ne.s32 %p1, %r3, 0;
                and.pred %p3, %p1, %p2;
                """;
        String plain = "ld.global.u64 %rd5, [%rd1];\nbra out;\n";
        assertEquals(Map.of(), rejected(outside + ALL, plain + "mov.u64 %rd2, %rd1;\n", Mode.CHECK));
        assertEquals(Map.of(), rejected(outside + SOME, "@%p2 " + plain.replace("bra", "@%p2 bra") + "mov.u64 %rd2, 64;\n", Mode.CHECK));
        for (String guard : new String[] {"", "@!%p2 ", "@%p4 "}) {
            assertFalse(rejected(outside + SOME, guard + plain + "mov.u64 %rd2, 64;\n", Mode.CHECK).isEmpty(), guard);
        }
        whatIsMade(outside);
    }
}
