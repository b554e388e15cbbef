package io.tessera.guardian.verify.module;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.module.Fencer;
import io.tessera.guardian.ptx.parse.PtxParser;
import io.tessera.guardian.verify.Mode;
import io.tessera.guardian.verify.UnverifiedException;
import io.tessera.guardian.verify.Verdict;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Loops that are shown to end, and addresses in loops that are shown to be aligned; each is not any more once one thing of it is another. */
class VerifiedLoopsTest {
    private static final String HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n";
    private static final String UNENDING = "a loop that is not shown to end";

    private static Verdict verify(String text) throws UnverifiedException {
        return FenceVerifier.verify(GridLooks.bytes(text), Mode.MASK, false);
    }

    private static String kernel(String body) {
        return HEAD + ".visible .entry k(.param .u32 n)\n{\n.reg .b32 %r<6>; .reg .pred %p<3>;\n" + body + "\nret;\n}\n";
    }

    @Test
    void aStepInARegister() throws Exception {
        OneChange.onlySo(kernel("""
                mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.x; ld.param.u32 %r3, [n];
                l: add.s32 %r1, %r1, %r2;
                setp.lt.s32 %p1, %r1, 256;
                @%p1 bra l;
                """), UNENDING, new String[][] {
                {"%ntid.x", "%tid.x"}, {"%r1, %r2;\n", "%r1, %r3;\n"}, {"256", "2147483647"}, {"256", "2147482625"}, {"256", "%r3"},
                {"add.s32", "sub.s32"},
                {"lt.s32", "gt.s32"}, {"lt.s32", "ne.s32"}, {"setp", "shr.u32 %r2, %r2, 1;\nsetp"}, {"setp", "mov.u32 %r1, 0;\nsetp"},
                {"@%p1", "@!%p1"}});
        OneChange.onlySo(kernel("""
                mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.x; ld.param.u32 %r3, [n];
                l: sub.s32 %r1, %r1, %r2;
                setp.ge.s32 %p1, %r1, -256;
                @%p1 bra l;
                """), UNENDING, new String[][] {
                {"%ntid.x", "%tid.x"}, {"-256", "-2147483648"}, {"-256", "-2147482625"}, {"-256", "%r3"}, {"sub.s32", "add.s32"},
                {"ge.s32", "le.s32"}});
        assertEquals(Map.of(),
                verify(kernel(
                        "mov.u32 %r1, 2147450000; mov.u32 %r2, %ntid.x; l: add.s32 %r1, %r1, %r2; setp.lt.s32 %p1, %r1, 2147482624; @%p1 bra l;"))
                        .rejected(),
                "the largest bound that a counter with steps of 1024 does not run over");
    }

    @Test
    void aCounterThatIsDoubled() throws Exception {
        OneChange.onlySo(kernel("""
                mov.u32 %r1, 1; mov.u32 %r2, %ntid.x; ld.param.u32 %r3, [n]; mov.u32 %r4, %tid.x;
                l: shl.b32 %r1, %r1, 1;
                setp.lt.s32 %p1, %r1, %r2;
                @%p1 bra l;
                """), UNENDING, new String[][] {
                {"mov.u32 %r1, 1", "mov.u32 %r1, 0"}, {"mov.u32 %r1, 1", "mov.u32 %r1, %tid.x"}, {"mov.u32 %r1, 1", "mov.u32 %r1, -1"},
                {"%r1, %r2;", "%r1, %r3;"},
                {"%r1, 1;\nsetp", "%r1, 0;\nsetp"}, {"%r1, 1;\nsetp", "%r1, %r4;\nsetp"}, {"%r1, %r2;", "%r1, 1073741825;"},
                {"%r1, %r2;", "%r1, 2147483647;"},
                {"lt.s32", "ne.s32"}, {"lt.s32", "gt.s32"}, {"setp", "and.b32 %r1, %r1, 1022;\nsetp"}, {"shl.b32", "shr.u32"}});
    }

    @Test
    void aCounterThatIsHalved() throws Exception {
        String text = kernel("""
                ld.param.u32 %r1, [n]; mov.u32 %r4, %tid.x;
                l: shr.u32 %r1, %r1, 1;
                setp.gt.u32 %p1, %r1, 0;
                @%p1 bra l;
                """);
        OneChange.onlySo(text, UNENDING, new String[][] {
                {"gt.u32", "ge.u32"}, {"gt.u32", "lt.u32"}, {"gt.u32", "eq.u32"}, {"shr.u32", "shr.s32"}, {"%r1, 1;\nsetp", "%r1, 0;\nsetp"},
                {"%r1, 1;\nsetp", "%r1, %r4;\nsetp"},
                {"gt.u32 %p1, %r1, 0", "gt.s32 %p1, %r1, -1"}, {"gt.u32 %p1, %r1, 0", "ne.u32 %p1, %r1, 1"}, {"setp", "or.b32 %r1, %r1, 1;\nsetp"}});
        for (String other : new String[] {"ne.s32", "gt.s32"}) {
            assertEquals(Map.of(), verify(text.replace("gt.u32", other)).rejected(), other);
        }
        String signed = text.replace("shr.u32", "shr.s32");
        assertEquals(Map.of(), verify(signed.replace("gt.u32", "gt.s32")).rejected());
        assertFalse(verify(signed.replace("gt.u32", "ne.s32")).whole(), "-1 stays -1");
    }

    /** As compilers write loops whose counter is compared before it is incremented. */
    @Test
    void aCounterThatIsMoved() throws Exception {
        String text = kernel("""
                mov.u32 %r1, %tid.x; ld.param.u32 %r3, [n]; mov.u32 %r4, %r1; mov.u32 %r5, %r1; setp.eq.u32 %p2, %r3, 0;
                l: add.s32 %r2, %r1, 64;
                setp.lt.s32 %p1, %r1, 256;
                mov.u32 %r1, %r2;
                @%p1 bra l;
                """);
        OneChange.onlySo(text, UNENDING, new String[][] {
                {"mov.u32 %r1, %r2;", "@%p2 mov.u32 %r1, %r2;"}, {"mov.u32 %r1, %r2;", "@%p2 bra m; mov.u32 %r1, %r2; m:"},
                {"mov.u32 %r1, %r2;", "mov.u32 %r1, %r3;"}, {"mov.u32 %r1, %r2;", "not.b32 %r1, %r2;"},
                {"mov.u32 %r1, %r2;", "mov.u32 %r1, %r2; @%p2 mov.u32 %r1, 0;"}, {"mov.u32 %r1, %r2;", "mov.u32 %r1, %r4; mov.u32 %r4, %r2;"},
                {"mov.u32 %r1, %r2;", "mov.b32 %r1, 7;"}, {"mov.u32 %r1, %r2;", "mov.u32 %r1, %laneid;"},
                {"%r1, 256", "%r4, 256"}, {"%r1, 256", "%r1, 2147483647"}, {"%r1, 256", "%r1, %r3"}, {"lt.s32", "gt.s32"}, {"lt.s32", "ne.s32"},
                {"%r1, 64", "%r5, 64"}, {"%r1, 64", "%r1, %r1"}, {"add.s32", "sub.s32"},
                {"add.s32", "@%p2 add.s32"}, {"add.s32 %r2, %r1, 64;", "@%p2 bra m; add.s32 %r2, %r1, 64; m:"}});
        String copies = text.replace("setp.lt.s32 %p1, %r1", "mov.b32 %r5, %r1;\nsetp.lt.s32 %p1, %r5").replace("%r1, 64", "%r5, 64")
                .replace("l: add", "l: mov.s32 %r5, %r1;\nadd");
        OneChange.onlySo(copies, UNENDING,
                new String[][] {{"mov.s32 %r5, %r1;", "@%p2 mov.s32 %r5, %r1;"}, {"mov.s32 %r5, %r1;", "mov.s32 %r5, %r3;"},
                        {"mov.s32 %r5, %r1;", "@%p2 bra m; mov.s32 %r5, %r1; m:"}, {"mov.b32 %r5, %r1;\n", "mov.b32 %r5, %r3;\n"}});
    }

    @Test
    void aCounterOf64Bits() throws Exception {
        OneChange.onlySo(HEAD + """
                .visible .entry k(.param .u64 n)
                {
                .reg .b64 %rd<4>; .reg .b32 %r<2>; .reg .pred %p<3>;
                ld.param.u64 %rd1, [n]; and.b64 %rd2, %rd1, 3; setp.eq.s64 %p1, %rd2, 0;
                @%p1 bra out;
                l: add.s64 %rd2, %rd2, -1;
                setp.ne.s64 %p2, %rd2, 0;
                @%p2 bra l;
                out: ret;
                }
                """, "", new String[][] {
                {"@%p1 bra out;", ""}, {"and.b64 %rd2, %rd1, 3", "mov.u64 %rd2, %rd1"}, {"%rd1, 3", "%rd1, -4"}, {"%rd2, -1", "%rd2, -2"},
                {"%rd2, -1", "%rd2, 1"}, {"%rd2, -1", "%rd2, %rd1"}, {"%p2, %rd2, 0", "%p2, %rd2, 5"}, {"%p2, %rd2, 0", "%p2, %rd1, 0"},
                {"ne.s64", "lt.s64"}, {"setp.ne.s64 %p2, %rd2", "cvt.u32.u64 %r1, %rd2;\nsetp.ne.s32 %p2, %r1"},
                {"setp.ne", "shl.b64 %rd2, %rd2, 1;\nsetp.ne"}, {"@%p2", "@!%p2"}});
    }

    /** An inner loop may do anything but count the outer one, or go around its head. */
    @Test
    void aLoopInACountedLoop() throws Exception {
        String text = kernel("""
                mov.u32 %r1, 0; mov.u32 %r2, 0; ld.param.u32 %r3, [n]; setp.eq.u32 %p0, %r3, 0;
                l: mov.u32 %r2, %r1;
                m: add.u32 %r2, %r2, 4;
                setp.lt.u32 %p1, %r2, 64;
                @%p1 bra m;
                add.u32 %r1, %r1, 1;
                setp.lt.u32 %p2, %r1, 31;
                @%p2 bra l;
                """);
        OneChange.onlySo(text, UNENDING, new String[][] {
                {"%r2, 64", "%r2, %r3"}, {"%r1, 31", "%r2, 31"}, {"%r2, 4;", "%r2, 0;"}, {"%r1, 1;", "%r1, 0;"},
                {"m: add", "m: mov.u32 %r1, 0;\nadd"},
                {"m: add", "m: mov.u32 %r2, 0;\nadd"}, {"m: add", "m: @%p0 add.u32 %r1, %r1, 1;\nadd"}, {"@%p1 bra m", "@%p1 bra l"},
                {"@%p2 bra l", "@%p2 bra m"}, {"@%p2 bra l;", "@%p2 bra l;\n@%p0 bra m;"}, {"@%p2 bra l;", "@%p2 bra l;\n@%p0 bra l;"},
                {"add.u32 %r1, %r1, 1;", "@%p0 bra m;\nadd.u32 %r1, %r1, 1;"}, {"add.u32 %r1, %r1, 1;", "@%p0 add.u32 %r1, %r1, 1;"},
                {"add.u32 %r1, %r1, 1;", "@%p0 bra o;\nadd.u32 %r1, %r1, 1;\no:"}, {"@%p1 bra m;", "@%p1 bra m;\n@%p0 bra l;"}});
        OneChange.onlySo(text.replace("31", "99999"), "instructions between two looks",
                new String[][] {{"99999", "999999"}, {"99999", "%r3"}, {"%r2, 64", "%r2, 6400"}});
    }

    /** A counter that differs from its end is an index below that end. */
    @Test
    void anIndexThatIsToldApartFromItsEnd() throws Exception {
        OneChange.onlySo(HEAD + """
                .visible .entry k(.param .u32 n)
                {
                .reg .b32 %r<8>; .reg .pred %p<3>;
                .shared .align 4 .b8 tile[128];
                mov.u32 %r1, 0; ld.param.u32 %r2, [n]; mov.u32 %r3, tile; mov.u32 %r7, 0; setp.eq.u32 %p1, %r2, 0;
                l: mad.lo.u32 %r4, %r1, 4, %r3;
                ld.shared.u32 %r5, [%r4];
                add.u32 %r1, %r1, 1;
                add.u32 %r7, %r7, 1;
                setp.gt.u32 %p2, %r7, 99;
                @%p2 bra out;
                setp.ne.s32 %p2, %r1, 32;
                @%p2 bra l;
                out: ret;
                }
                """, "in bounds", new String[][] {
                {"%r1, 32", "%r1, 33"}, {"%r1, 32", "%r1, %r2"}, {"%r1, 32", "%r7, 32"}, {"%r1, 32", "%r1, 0"}, {"mov.u32 %r1, 0", "mov.u32 %r1, 33"},
                {"mov.u32 %r1, 0", "mov.u32 %r1, -1"}, {"%r1, 1;", "%r1, 3;"}, {"%r1, 1;", "%r1, -1;"}, {"%r1, 1;", "%r1, %r2;"},
                {"setp.ne", "@%p1 add.u32 %r1, %r1, 1;\nsetp.ne"}, {"@%p2 bra l;", "add.u32 %r1, %r1, 1;\n@%p2 bra l;"},
                {"@%p2 bra l", "@!%p2 bra l"},
                {"@%p2 bra l;", "@%p2 bra l;\n@%p1 bra l;"}});
    }

    /** The bound is a register that the loop does not write: what it is behind the loop's own test says nothing new of it. */
    @Test
    void aPartOfALoopWithABoundInARegister() throws Exception {
        String text = new Fencer(FenceMode.MASK).fence(PtxParser.parse(HEAD + """
                .visible .entry k(.param .u64 p, .param .u32 n)
                {
                .reg .b64 %rd<6>; .reg .pred %p<2>; .reg .b32 %r<4>;
                ld.param.u64 %rd1, [p];
                ld.param.u32 %r1, [n];
                mov.u32 %r2, 0;
                l: st.global.u32 [%rd1], %r2;
                add.s32 %r2, %r2, 16;
                setp.lt.s32 %p1, %r2, %r1;
                @%p1 bra l;
                ret;
                }
                """)).ptx();
        OneChange.onlySo(text, UNENDING, new String[][] {
                {"2147483632", "2147483633"},
                {"\tsetp.lt.s32 \t%p0, %r1, %__tessera_r1;", "\tadd.s32 %__tessera_r1, %__tessera_r1, 16;\n\tsetp.lt.s32 \t%p0, %r1, %__tessera_r1;"},
                {"\tsetp.lt.s32 \t%p0, %r1, %__tessera_r1;", "\tadd.s32 %__tessera_r1, %r1, 16;\n\tsetp.lt.s32 \t%p0, %r1, %__tessera_r1;"},
                {"selp.s32 \t%__tessera_r1, -2147483648", "selp.s32 \t%__tessera_r1, 2147483647"}});
    }

    /**
     * As compilers write loops that they have unrolled. A part has whole steps, so its end is compared unchanged, and assemblers see a counted loop.
     */
    @Test
    void aPartOfALoopWithStepsOfFour() throws Exception {
        String text = new Fencer(FenceMode.MASK).fence(PtxParser.parse(HEAD + """
                .visible .entry k(.param .u64 p, .param .u32 n)
                {
                .reg .b64 %rd<6>; .reg .pred %p<2>; .reg .b32 %r<4>;
                ld.param.u64 %rd1, [p];
                ld.param.u32 %r1, [n];
                l: st.global.u32 [%rd1], %r1;
                add.s32 %r1, %r1, -4;
                setp.ne.s32 %p1, %r1, 0;
                @%p1 bra l;
                ret;
                }
                """)).ptx();
        OneChange.onlySo(text, UNENDING, new String[][] {
                {"and.b32 \t%__tessera_r7, %r0, -4;", "and.b32 \t%__tessera_r7, %r0, -2;"}, {", 2044;", ", 2046;"},
                {"add.u32 \t%__tessera_r8, %__tessera_r8, 4;", "add.u32 \t%__tessera_r8, %__tessera_r8, 2;"},
                {"sub.u32 \t%__tessera_r0, %r0, ", "sub.u32 \t%__tessera_r0, %__tessera_r7, "},
                {"add.s32 \t%r0, %r0, -4;", "add.s32 \t%r0, %r0, -8;"}, {"add.s32 \t%r0, %r0, -4;", "add.s32 \t%r0, %r0, -12;"},
                {"\tsetp.ne.s32 \t%p0, %r0, %__tessera_r0;", "\tadd.s32 %__tessera_r0, %__tessera_r0, 4;\n\tsetp.ne.s32 \t%p0, %r0, %__tessera_r0;"},
                {"setp.ne.s32 \t%p0, %r0, %__tessera_r0;", "setp.ne.s32 \t%p0, %r0, 2;"}});
        OneChange.onlySo(text, TOO_MUCH, new String[][] {{", 2044;", ", 1073741820;"}});
    }

    /** A pointer that moves by a number of doubles that is not known stays aligned. */
    @Test
    void aPointerThatMovesByMultiples() throws Exception {
        String text = new Fencer(FenceMode.MASK).fence(PtxParser.parse(HEAD + """
                .visible .entry k(.param .u64 p, .param .u64 n)
                {
                .reg .b64 %rd<6>; .reg .pred %p<2>; .reg .f64 %fd<2>;
                ld.param.u64 %rd1, [p];
                ld.param.u64 %rd2, [n];
                shl.b64 %rd3, %rd2, 3;
                mov.u64 %rd4, 0;
                l: ld.global.f64 %fd1, [%rd1];
                st.global.f64 [%rd1], %fd1;
                add.s64 %rd1, %rd1, %rd3;
                add.s64 %rd4, %rd4, 1;
                setp.lt.u64 %p1, %rd4, %rd2;
                @%p1 bra l;
                ret;
                }
                """)).ptx();
        OneChange.onlySo(text, "ld.global.f64: its address is not shown to be in bounds and aligned", new String[][] {
                {"shl.b64 \t%rd2, %rd1, 3", "shl.b64 \t%rd2, %rd1, 2"}, {"%__tessera_d0, -8;", "%__tessera_d0, -4;"},
                {"add.s64 \t%__tessera_d0, %__tessera_d0, %rd2;", "add.s64 \t%__tessera_d0, %__tessera_d0, %rd1;"}});
    }

    /** Four passes take from the counter once: without that, or with a way back that does not pass it, there may be no end. */
    @Test
    void severalPassesForOneLook() throws Exception {
        String text = new Fencer(FenceMode.MASK).fence(PtxParser.parse(kernel("""
                mov.u32 %r1, %tid.x; ld.param.u32 %r2, [n]; mov.u32 %r3, %r2;
                l: add.s32 %r1, %r1, %r2;
                setp.ne.s32 %p1, %r1, %r3;
                @%p1 bra l;
                """))).ptx();
        OneChange.onlySo(text, UNENDING, new String[][] {
                {"setp.gt.and.s32 \t%__tessera_p1, %__tessera_r0, 0, %p0;", "mov.pred \t%__tessera_p1, %p0;"},
                {"sub.s32 \t%__tessera_r0, %__tessera_r0, 1;", ""},
                {"sub.s32 \t%__tessera_r0, %__tessera_r0, 1;", "add.s32 \t%__tessera_r0, %__tessera_r0, 1;"},
                {"@%__tessera_p0 ld.volatile.global.u32 \t%__tessera_r0", "@%__tessera_p0 ld.global.u32 \t%__tessera_r0"},
                {"@!%p0 bra \t__tessera_behind_0;", "@%p0 bra \t$L0;"}});
    }

    /**
     * A compiler writes a loop's first part behind its second: the look is at an edge that leads into the middle. The code before the loop
     * is not gone through again.
     */
    @Test
    void aLoopThatIsEnteredInTheMiddle() throws Exception {
        String before = "xor.b32 %r1, %r1, 5; add.u32 %r1, %r1, %r3;\n".repeat(1500);
        String loop = """
                bra m;
                l: add.u32 %r2, %r2, %r1; st.global.u32 [%rd1], %r2;
                m: ld.volatile.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 5; @%p1 bra e;
                add.u32 %r2, %r2, 7; bra l;
                e: st.global.u32 [%rd1], %r2;
                """;
        String text = HEAD
                + ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<6>; .reg .b64 %rd<3>; .reg .pred %p<3>;\nld.param.u64 %rd1, [p]; ld.param.u32 %r3, [p];"
                + " mov.u32 %r1, 0; mov.u32 %r2, 0;\n" + before + loop + "ret;\n}\n";
        assertEquals(Map.of(), verify(new Fencer(FenceMode.MASK).fence(PtxParser.parse(text)).ptx()).rejected());
    }

    private static final String TOO_MUCH = "instructions between two looks at the stop word";

    /** A part of a loop's rounds, and what a pass of a loop takes from the counter, is as much as the length of the loop allows. */
    @Test
    void whatLiesBetweenTwoLooks() throws Exception {
        String body = "st.global.u32 [%rd1], %r2;\n".repeat(200);
        String parted = HEAD
                + ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n.reg .b64 %rd<6>; .reg .pred %p<2>; .reg .b32 %r<4>;\nld.param.u64 %rd1, [p];\nld.param.u32 %r1, [n];\n"
                + "mov.u32 %r2, 0;\nl:\n" + body + "add.s32 %r2, %r2, 1;\nsetp.COMPARE.s32 %p1, %r2, %r1;\n@%p1 bra l;\nret;\n}\n";
        String ordered = new Fencer(FenceMode.MASK).fence(PtxParser.parse(parted.replace("COMPARE", "lt"))).ptx();
        OneChange.onlySo(ordered, TOO_MUCH, new String[][] {
                {", 4;", ", 1073741824;"}, {"min.s32 \t%__tessera_r0, %r1, ", "min.s32 \t%__tessera_r0, %r0, "},
                {"add.s32 \t%__tessera_r0, %__tessera_r0", "add.s32 \t%__tessera_r0, %r0"}});
        String equal = new Fencer(FenceMode.MASK).fence(PtxParser.parse(parted.replace("COMPARE", "ne"))).ptx();
        OneChange.onlySo(equal, TOO_MUCH, new String[][] {
                {", 3;", ", 1073741824;"}, {"add.u32 \t%__tessera_r0, %r1", "add.u32 \t%__tessera_r0, %r0"}});
        String looping = new Fencer(FenceMode.MASK)
                .fence(PtxParser
                        .parse(parted.replace("COMPARE", "lt").replace(body, body.repeat(20)).replace("setp", "xor.b32 %r1, %r1, %r2;\nsetp")))
                .ptx();
        OneChange.onlySo(looping, TOO_MUCH,
                new String[][] {{"sub.s32 \t%__tessera_r0, %__tessera_r0, 1063;", "sub.s32 \t%__tessera_r0, %__tessera_r0, 150;"}});
    }

    private static String looping(String what, String compare) {
        return HEAD + ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n.reg .b64 %rd<6>; .reg .pred %p<2>; .reg .b32 %r<4>; .local .b32 v;\n"
                + "ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd1, %rd1; ld.param.u32 %r1, [n]; mov.u32 %r2, 0; mov.u32 %r3, 1;\nl:\n" + what
                + "\nadd.s32 %r2, %r2, 1;\nsetp." + compare + ".s32 %p1, %r2, %r1;\n@%p1 bra l;\nret;\n}\n";
    }

    /**
     * Instructions that all threads of a GPU do slowly if they do them at once, or that are slow by themselves, count as many: parts of a
     * loop have fewer rounds then.
     */
    @Test
    void whatMayTakeLongCountsAsMany() throws Exception {
        String[][] rounds = {{"xor.b32 %r3, %r3, %r2;", "16384", "600000000"}, {"st.local.b32 [v], %r3;", "16384", "600000000"},
                {"st.global.u32 [%rd1], %r2;", "512", "67000"}, {"ld.volatile.u32 %r3, [%rd1];", "512", "67000"},
                {"membar.gl;", "512", "67000"}, {"atom.global.add.u32 %r3, [%rd1], %r2;", "256", "34000"},
                {"red.add.u32 [%rd1], %r2;", "256", "34000"},
                {"ld.global.u32 %r3, [%rd1+4]; ld.global.v4.u32 {%r3, %r3, %r3, %r3}, [%rd1];".replace("{%r3, %r3, %r3, %r3}", "{%r3, _, _, _}"),
                        "256",
                        "34000"}};
        for (String[] each : rounds) {
            String text = new Fencer(FenceMode.MASK).fence(PtxParser.parse(looping(each[0], "lt"))).ptx();
            assertTrue(text.contains("add.s32 \t%__tessera_r0, %__tessera_r0, " + each[1] + ";"), each[0] + "\n" + text);
            OneChange.onlySo(text, TOO_MUCH,
                    new String[][] {{"%__tessera_r0, %__tessera_r0, " + each[1] + ";", "%__tessera_r0, %__tessera_r0, " + each[2] + ";"}});
        }
    }

    /** A loop with accesses that takes from the counter has less of it at first, as each block of a grid begins with that. */
    @Test
    void theFirstLookComesEarly() throws Exception {
        String compute = Fencer.withoutProofs(FenceMode.MASK, false).fence(PtxParser.parse(looping("xor.b32 %r1, %r1, %r2;", "lt"))).ptx();
        assertTrue(compute.contains("mov.u32 \t%__tessera_r0, 4096;"), compute);
        String access = Fencer.withoutProofs(FenceMode.MASK, false).fence(PtxParser.parse(looping("ld.volatile.global.u32 %r1, [%rd1];", "lt")))
                .ptx();
        String first = "mov.u32 \t%__tessera_r0, 512;";
        assertTrue(access.contains(first), access);
        byte[] begun = access.replace(first, "mov.u32 \t%__tessera_r0, 4096;").getBytes(java.nio.charset.StandardCharsets.UTF_8);
        assertEquals(Map.of(), FenceVerifier.verify(access.getBytes(java.nio.charset.StandardCharsets.UTF_8), Mode.MASK, false).rejected());
        assertTrue(FenceVerifier.verify(begun, Mode.MASK, false).rejected().get("k").getMessage().contains("before the first look"));
    }

    /** An edge that leads into the middle of a loop is in the loop around it as well, which has edges of its own that look. */
    @Test
    void aLoopOfTwoBeginningsInALoop() throws Exception {
        String work = "ld.volatile.global.u32 %r3, [%rd1];\n".repeat(200);
        String text = looping(
                work + "setp.eq.u32 %p1, %r3, 5; @%p1 bra m;\ns: add.u32 %r3, %r3, 3;\nm: xor.b32 %r3, %r3, %r2; setp.ne.u32 %p1, %r3, 77;\n"
                        + "@%p1 bra s; setp.eq.u32 %p1, %r3, 78; @%p1 bra m;",
                "lt");
        String fenced = Fencer.withoutProofs(FenceMode.MASK, false).fence(PtxParser.parse(text)).ptx();
        assertEquals(Map.of(), verify(fenced).rejected());
    }

    @Test
    void sleepsInARow() throws Exception {
        String sleeps = "nanosleep.u32 1000000;\n".repeat(10_000);
        assertTrue(verify(kernel(sleeps)).rejected().get("k").getMessage().contains(TOO_MUCH));
        assertEquals(Map.of(), verify(kernel(sleeps.replace("1000000", "100"))).rejected());
    }

    /** Passes of loops in a row add up: each is short enough, all together are not. */
    @Test
    void loopsInARow() throws Exception {
        for (String compare : new String[] {"4090", "%r2"}) {
            StringBuilder text = new StringBuilder(
                    HEAD + ".visible .entry k(.param .u32 n)\n{\n.reg .b32 %r<6>; .reg .pred %p<3>;\nld.param.u32 %r2, [n];\n");
            for (int i = 0; i < 2000; i++) {
                text.append("mov.u32 %r1, 0; l").append(i).append(": add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, ").append(compare)
                        .append("; @%p1 bra l").append(i).append(";\n");
            }
            String row = text.append("ret;\n}\n").toString();
            String fenced = new Fencer(FenceMode.MASK).fence(PtxParser.parse(row)).ptx();
            assertEquals(Map.of(), verify(fenced).rejected());
            assertTrue(fenced.split("ld.volatile.global.u32", -1).length > 1800, "almost all look");
            assertTrue(verify(row).rejected().get("k").getMessage().contains(TOO_MUCH), compare);
        }
    }

    /** As nvcc writes it: the end precedes the last code, which branches back to it and is not a loop. */
    @Test
    void aWayBackToTheEndIsPassedOnce() throws Exception {
        String work = "add.s32 %r1, %r1, %r2; ".repeat(2000);
        String text = kernel("ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x; " + work
                + "setp.lt.s32 %p1, %r1, 4; @%p1 bra more;\nend: ret;\nmore: add.s32 %r1, %r1, 1; bra.uni end;\n");
        String fenced = new Fencer(FenceMode.MASK).fence(PtxParser.parse(text)).ptx();
        assertTrue(fenced.contains("ld.volatile.global.u32"), "the branch looks");
        assertEquals(Map.of(), verify(fenced).rejected());
    }
}
