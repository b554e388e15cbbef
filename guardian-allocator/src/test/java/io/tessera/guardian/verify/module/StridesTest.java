package io.tessera.guardian.verify.module;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.verify.Mode;
import io.tessera.guardian.verify.UnverifiedException;
import io.tessera.guardian.verify.Verdict;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Pointers that a counted loop moves are shown to stay within a guard band, and are not any more once one thing of it is another. */
class StridesTest {
    private static final String OUTSIDE = "its address is not shown to be in bounds";

    private static Verdict verify(String text) throws UnverifiedException {
        return FenceVerifier.verify(GridLooks.bytes(text), Mode.MASK, false);
    }

    /** A kernel whose {@code %d1} is in the window, and whose {@code %r3} is any number. */
    private static String kernel(String body) {
        return """
                .version 8.0
                .target sm_90
                .address_size 64
                .visible .const .align 16 .b64 __tessera_window[8];
                .visible .entry k(.param .u64 p, .param .u32 n)
                {
                .reg .b32 %r<12>; .reg .b64 %d<6>; .reg .pred %p<4>;
                ld.const.v2.u32 {%r5, %r6}, [__tessera_window];
                ld.param.u64 %d1, [p]; ld.param.u32 %r3, [n]; ld.param.u64 %d3, [p];
                mov.u32 %r7, 0;
                """ + body + "\nret;\n}\n";
    }

    private static String fence(String register) {
        return "mov.b64 {%r1, %r2}, " + register + "; and.b32 %r2, %r2, %r6; or.b32 %r2, %r2, %r5; mov.b64 " + register + ", {%r1, %r2}; and.b64 "
                + register + ", " + register + ", -4;\n";
    }

    private static void onlyInBounds(String text, String[]... changes) throws Exception {
        OneChange.onlySo(text, OUTSIDE, changes);
    }

    @Test
    void aStepEachPass() throws Exception {
        onlyInBounds(kernel("min.u32 %r8, %r3, 16384;\n" + fence("%d1") + """
                l: ld.global.u32 %r9, [%d1];
                add.s64 %d1, %d1, 1024;
                add.u32 %r7, %r7, 1;
                setp.lt.u32 %p1, %r7, %r8;
                @%p1 bra l;
                """), new String[][] {
                {"1024", "2621696"}, {"1024", "-2621696"}, {"1024", "9223372036854774784"}, {"%d1, 1024", "%d1, %d3"}, {"%d1, 1024", "%d3, 1024"},
                {"add.s64 %d1, %d1", "sub.s64 %d1, %d3"}, {"1024", "1026"},
                {"min.u32 %r8, %r3, 16384", "min.u32 %r8, %r3, 4294967290"}, {"or.b32 %r2, %r2, %r5;", ""},
                {"add.s64 %d1, %d1, 1024;", "setp.eq.u32 %p2, %r9, 0; @%p2 add.s64 %d1, %d1, 1024;"},
                {"add.s64 %d1, %d1, 1024;", "setp.eq.u32 %p2, %r9, 0; @%p2 bra m; add.s64 %d1, %d1, 1024; m:"},
                {"add.s64 %d1, %d1, 1024;", "add.s64 %d1, %d1, 1024; xor.b64 %d1, %d1, 1;"}});
    }

    @Test
    void sumsOfSteps() throws Exception {
        onlyInBounds(kernel("min.s32 %r8, %r3, 4096;\n" + fence("%d1") + """
                mov.u64 %d2, 8;
                l: add.s64 %d4, %d1, 16;
                ld.global.u32 %r9, [%d4+-4];
                mov.b64 %d5, %d4;
                sub.s64 %d1, %d5, %d2;
                add.s32 %r7, %r7, 1;
                setp.lt.s32 %p1, %r7, %r8;
                @%p1 bra l;
                """), new String[][] {
                {"%d2, 8", "%d2, 1099511627776"}, {"mov.u64 %d2, 8", "ld.param.u64 %d2, [p]"}, {"%d1, 16", "%d1, 68719476736"},
                {"mov.b64 %d5, %d4", "not.b64 %d5, %d4"}});
    }

    @Test
    void downToABound() throws Exception {
        onlyInBounds(kernel("max.s32 %r8, %r3, -4096;\n" + fence("%d1") + """
                l: ld.global.u32 %r9, [%d1];
                sub.s64 %d1, %d1, 4;
                sub.s32 %r7, %r7, 4;
                setp.gt.s32 %p1, %r7, %r8;
                @%p1 bra l;
                """), new String[][] {{"%d1, 4", "%d1, 68719476736"}, {"%d1, 4", "%d1, 2"}});
    }

    /** An inner loop moves its pointer in each of its own passes, and in each of the outer loop's. */
    @Test
    void loopsInLoops() throws Exception {
        String inner = """
                mov.u32 %r7, 0;
                l: ld.global.u32 %r9, [%d1];
                add.s64 %d1, %d1, 4194304;
                add.u32 %r7, %r7, 1;
                setp.lt.u32 %p1, %r7, 4096;
                @%p1 bra l;
                """;
        String outer = """
                add.u32 %r10, %r10, 1;
                setp.lt.u32 %p2, %r10, 4;
                @%p2 bra o;
                """;
        String fence = fence("%d1");
        onlyInBounds(kernel("mov.u32 %r10, 0;\no: " + fence + inner + outer),
                new String[][] {{"o: " + fence, fence + "o: "}, {"4194304", "16777216"}});
    }

    /** An addition in an inner loop is made more often than the outer one goes round. */
    @Test
    void stepsOfAnInnerLoop() throws Exception {
        String text = kernel(fence("%d1") + """
                mov.u32 %r10, 0;
                o: ld.global.u32 %r9, [%d1];
                mov.u32 %r7, 0;
                l: STEP
                add.u32 %r7, %r7, 1;
                setp.lt.u32 %p1, %r7, 1000;
                @%p1 bra l;
                add.u32 %r10, %r10, 1;
                setp.lt.u32 %p2, %r10, 100;
                @%p2 bra o;
                """);
        onlyInBounds(text.replace("STEP", "").replace("add.u32 %r10", "add.s64 %d1, %d1, 1024; add.u32 %r10"),
                new String[][] {{"1024", "1099511627776"}});
        assertTrue(verify(text.replace("STEP", "add.s64 %d1, %d1, 1024;")).rejected().get("k").getMessage().contains(OUTSIDE));
    }

    /** A counter is what its steps lead to, and so is an address of shared memory that is moved with it. */
    @Test
    void countersInSharedMemory() throws Exception {
        String loop = """
                .shared .align 4 .b8 tile[4096];
                mov.u32 %r1, 64; mov.u32 %r2, tile;
                l: add.s32 %r9, %r2, %r1;
                ld.shared.u32 %r9, [%r9+60];
                add.s32 %r1, %r1, 128;
                setp.ne.s32 %p1, %r1, 4160;
                @%p1 bra l;
                """;
        onlyInBounds(kernel(loop), new String[][] {{"+60", "+64"}, {"+60", "+-68"}, {"4096", "4092"}, {"%r2, tile;", "%r2, tile+4;"},
                {"ne.s32 %p1, %r1, 4160", "le.s32 %p1, %r1, 4160"}});
        onlyInBounds(kernel(loop.replace("ne.s32", "lt.s32").replace("4160", "4100")), new String[][] {{"4100", "4161"}});
        onlyInBounds(kernel(loop.replace("ne.s32", "le.s32").replace("4160", "4159")), new String[][] {{"4159", "4160"}});
        onlyInBounds(kernel("""
                .shared .align 4 .b8 tile[4096];
                mov.u32 %r1, 0; mov.u32 %r2, tile+4092; min.u32 %r3, %r3, 1023; add.u32 %r3, %r3, 1;
                l: ld.shared.u32 %r9, [%r2];
                sub.s32 %r2, %r2, 4;
                add.u32 %r1, %r1, 1;
                setp.ne.u32 %p1, %r1, %r3;
                @%p1 bra l;
                """), new String[][] {{"1023;", "1024;"}, {"tile+4092", "tile+4088"}, {"tile+4092", "tile+4096"}, {"%r2, 4;", "%r2, 8;"},
                {"[%r2]", "[%r2+4]"}, {"[%r2]", "[%r2+-4]"}});
    }

    /** If the counter is compared before it is incremented, the head is reached once more. */
    @Test
    void countedBehindTheComparison() throws Exception {
        onlyInBounds(kernel("""
                .shared .align 4 .b8 tile[4096];
                mov.u32 %r1, 0; mov.u32 %r2, tile;
                l: add.s32 %r9, %r2, %r1;
                ld.shared.u32 %r9, [%r9];
                setp.lt.s32 %p1, %r1, 4092;
                add.s32 %r1, %r1, 4;
                @%p1 bra l;
                """), new String[][] {{"4092", "4093"}, {"lt.s32", "le.s32"}, {"tile[4096]", "tile[4092]"}});
    }

    /** A pointer with another value when the loop is entered. */
    @Test
    void anotherStart() throws Exception {
        onlyInBounds(kernel("setp.eq.u32 %p2, %r3, 0;\n" + fence("%d1") + """
                l: add.s64 %d1, %d1, 1024;
                ld.global.u32 %r9, [%d1];
                add.u32 %r7, %r7, 1;
                setp.lt.u32 %p1, %r7, 100;
                @%p1 bra l;
                """), new String[][] {{"l: add", "@%p2 mov.u64 %d1, %d3; l: add"}});
    }
}
