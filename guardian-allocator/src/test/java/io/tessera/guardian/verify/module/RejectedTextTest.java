package io.tessera.guardian.verify.module;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.fence.module.Fencer;
import io.tessera.guardian.ptx.parse.PtxParser;
import io.tessera.guardian.verify.Mode;
import io.tessera.guardian.verify.UnverifiedException;
import io.tessera.guardian.verify.Verdict;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Text that is fenced but for one thing. */
class RejectedTextTest {
    private static final String HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n";
    private static final String CALLS = HEAD + """
            .func (.param .b32 r) f(.param .b64 p)
            {
            .reg .b64 %rd<3>; .reg .b32 %r<3>;
            .local .align 8 .b8 own[24];
            mov.u64 %rd1, own;
            cvta.local.u64 %rd2, %rd1;
            ld.param.u64 %rd1, [p];
            st.u64 [%rd1+8], %rd2;
            ld.u32 %r1, [%rd1+4];
            st.param.b32 [r], %r1;
            ret;
            }
            .visible .entry k(.param .align 4 .b8 s[14], .param .u64 out)
            {
            .reg .b64 %rd<9>; .reg .b32 %r<4>;
            .local .align 8 .b8 frame[40];
            mov.u64 %rd1, frame;
            cvta.local.u64 %rd2, %rd1;
            mov.b64 %rd3, s;
            cvta.param.u64 %rd4, %rd3;
            st.local.u64 [%rd1], %rd4;
            {
            .param .b64 a; .param .b32 q;
            st.param.b64 [a], %rd2;
            call (q), f, (a);
            ld.param.b32 %r1, [q];
            }
            ld.param.u64 %rd5, [out];
            cvta.to.global.u64 %rd6, %rd5;
            st.global.u32 [%rd6], %r1;
            ret;
            }
            """;

    private static Verdict verify(String text) throws UnverifiedException {
        return FenceVerifier.verify(GridLooks.bytes(text), Mode.MASK, false);
    }

    private static String fenced(String text) throws Exception {
        FencedModule module = Fencer.withoutProofs(FenceMode.MASK, false).fence(PtxParser.parse(text));
        assertEquals(Map.of(), module.refused());
        return module.ptx();
    }

    private static String replaced(String text, String what, String by) {
        assertTrue(text.contains(what), () -> "'" + what + "' is not in\n" + text);
        return text.replace(what, by);
    }

    @Test
    void functionsGetOneVariableOfTheirKernel() throws Exception {
        String text = fenced(CALLS);
        assertTrue(verify(text).whole());
        // The kernel's frame and its copy of a parameter, and the function's own behind them.
        assertTrue(text.contains(".local .align 16 .b8 __tessera_local[96];"), text);
        assertFalse(text.contains("isspacep.param"), text);
    }

    @Test
    void callersMemoryIsOneVariable() throws Exception {
        String text = fenced(CALLS);
        String[][] changes = {{"min\\.u64", "max.u64"}, {"min\\.u64", "min.s64"}, {"__tessera_local\\[96\\]", "__tessera_local[80]"},
                {"(min\\.u64[^;]*), \\d+;", "$1, 96;"}, {"(mov\\.u64 \t%__tessera_d\\d+, __tessera_local);", "$1+32;"},
                {"(\tld\\.param\\.b64 \t%__tessera_d\\d+, \\[)__tessera_local", "$1\\$v1"}, {"cvta\\.local", "cvta.shared"}};
        for (String[] change : changes) {
            String changed = text.replaceAll(change[0], change[1]);
            assertFalse(changed.equals(text), change[0]);
            assertTrue(verify(changed).rejected().containsKey("k"), () -> change[0] + "\n" + changed);
        }
    }

    @Test
    void allCallersPassIt() throws Exception {
        String text = fenced(CALLS);
        String other = ".visible .entry other()\n{\n\t.reg .b64 %rd<2>;\n\t.local .align 16 .b8 small[32];\n\t.param .b64 a;\n\t.param .b32 q;\n"
                + "\tmov.u64 %rd1, small;\n\tst.param.b64 [a], %rd1;\n\tcall (q), f, (a, %rd1);\n\tret;\n}\n";
        assertTrue(verify(text + other).rejected().keySet().containsAll(Set.of("k", "other")), "a smaller one");
        assertTrue(verify(text + other.replace("small[32]", "small[96]")).whole(), "another variable as large");
        assertTrue(verify(text + other.replace("(a, %rd1)", "(a, a)")).rejected().containsKey("k"), "what is in an argument is not known");
    }

    /** The end of the callers' memory alone: what lies below, saved registers, can be reached. */
    @Test
    void anEndWithoutAStartIsNotEnough() throws Exception {
        String text = HEAD + """
                .func f(.param .b64 p, .param .b64 end)
                {
                .reg .b64 %rd<5>;
                ld.param.b64 %rd1, [p];
                ld.param.b64 %rd2, [end];
                sub.s64 %rd3, %rd2, 4;
                min.u64 %rd4, %rd1, %rd3;
                and.b64 %rd4, %rd4, -4;
                st.local.u32 [%rd4], 1;
                ret;
                }
                .visible .entry k(.param .u64 p)
                {
                .reg .b64 %rd<5>;
                .local .align 16 .b8 frame[64];
                .param .b64 a;
                ld.param.u64 %rd1, [p];
                st.param.b64 [a], %rd1;
                mov.u64 %rd2, frame+64;
                call f, (a, %rd2);
                ret;
                }
                """;
        assertTrue(verify(text).rejected().get("k").getMessage().contains("st.local.u32"));
    }

    @Test
    void addressesInClustersStayInABlock() throws Exception {
        String text = fenced(HEAD + """
                .visible .entry k(.param .u64 out)
                {
                .reg .b64 %rd<3>; .reg .b32 %r<6>;
                .shared .align 16 .b8 tile[64];
                mov.u32 %r1, tile;
                mov.u32 %r2, %tid.x;
                mapa.shared::cluster.u32 %r3, %r1, %r2;
                ld.shared::cluster.u32 %r4, [%r3+4];
                add.u32 %r1, %r1, %r2;
                st.shared.u32 [%r1], %r4;
                ret;
                }
                """);
        Verdict verdict = verify(text);
        assertTrue(verdict.whole() && verdict.clusters().contains("k"));
        for (String[] change : new String[][] {{"max.u32", "min.u32"}, {"-16777216", "-1048576"}, {"%cluster_nctarank", "%cluster_ctarank"},
                {"setp.ge.u32", "setp.gt.u32"},
                {"selp.b32", "selp.u32"}}) {
            assertFalse(verify(replaced(text, change[0], change[1])).whole(), change[0]);
        }
        // A block of a cluster need not begin at 0: what is below the end only is not enough.
        String below = text.replaceAll("\tmax\\.u32[^;]*;\n", "");
        assertFalse(verify(below).whole());
    }

    @Test
    void bulkCopiesEndWithTheBlock() throws Exception {
        String text = fenced(HEAD + """
                .visible .entry k(.param .u64 out, .param .u32 length)
                {
                .reg .b64 %rd<3>; .reg .b32 %r<6>;
                .shared .align 16 .b8 tile[64];
                ld.param.u64 %rd1, [out];
                ld.param.u32 %r2, [length];
                mov.u32 %r1, tile;
                add.u32 %r1, %r1, %r2;
                cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], %r2;
                cp.async.bulk.prefetch.L2.global [%rd1], %r2;
                ret;
                }
                """);
        assertTrue(verify(text).whole());
        for (String[] change : new String[][] {{"-16", "-4"}, {"sub.u32", "add.u32"}, {"bulk_group", "bulk_group.multicast::cluster"}}) {
            assertFalse(verify(replaced(text, change[0], change[1])).whole(), change[0]);
        }
    }

    @Test
    void linkedModulesKeepBarriersWithNumbers() throws Exception {
        String text = Fencer.withoutProofs(FenceMode.MASK, true).fence(PtxParser.parse(HEAD + """
                .visible .entry k()
                {
                .reg .b32 %r<2>; .reg .pred %p<2>;
                bar.sync 1, 64;
                bar.sync 3;
                bar.arrive 2, 96;
                bar.red.popc.u32 %r1, 4, 32, %p1;
                ret;
                }
                """)).ptx();
        assertTrue(FenceVerifier.verify(GridLooks.bytes(text), Mode.MASK, true).whole());
        assertFalse(verify(text).whole(), "a module that is not linked has none of the device's");
        String more = replaced(text, "min.u32", "max.u32");
        assertFalse(FenceVerifier.verify(GridLooks.bytes(more), Mode.MASK, true).whole(), "more threads than the block has");
    }

    @Test
    void whatIsNoTextIsNotAccepted() {
        assertThrows(UnverifiedException.class, () -> verify("no PTX"));
        assertThrows(UnverifiedException.class, () -> verify(HEAD + ".global .u32 mine;\n"));
    }

    private static String shared(String statements) {
        return HEAD + ".visible .const .align 16 .b64 __tessera_window[8];\n.visible .entry k()\n{\n.reg .b32 %r<6>; .reg .b64 %rd<4>;\n"
                + ".shared .align 16 .b8 s[128];\n" + statements + "\nret;\n}\n";
    }

    /** An address before a variable is a large number where the variable is the first. */
    @Test
    void sharedAddressesThatMayHaveGoneRound() throws Exception {
        String within = "mov.u32 %r1, s; mov.u32 %r3, s+100; add.u32 %r2, %r1, 64; min.u32 %r4, %r2, %r3; st.shared.u8 [%r4], %r1;";
        assertTrue(verify(shared(within)).whole(), "what is refused below is not refused for something else");
        for (String statements : new String[] {
                "mov.u32 %r1, s; sub.u32 %r2, %r1, 2147483648; mov.u32 %r3, s+100; min.u32 %r4, %r2, %r3; add.u32 %r5, %r4, 2147483648; st.shared.u8 [%r5], %r1;",
                "mov.u32 %r1, s; sub.u32 %r2, %r1, 50; mov.u32 %r3, s+100; min.u32 %r4, %r2, %r3; add.u32 %r5, %r4, 50; st.shared.u8 [%r5], %r1;",
                "mov.u32 %r1, s; sub.u32 %r2, %r1, 8192; cvt.u64.u32 %rd1, %r2; cvta.shared.u64 %rd2, %rd1; add.u64 %rd2, %rd2, 8192; st.u8 [%rd2], %r1;"}) {
            assertTrue(verify(shared(statements)).rejected().containsKey("k"), statements);
        }
    }

    /** The assembler believes a promise that only another module can keep. */
    @Test
    void functionsOfOtherModulesThatPromiseNotToReturn() throws Exception {
        String text = HEAD + """
                .visible .const .align 16 .b64 __tessera_window[8];
                .extern .func g();
                .visible .entry k()
                {
                call g;
                ret;
                }
                """;
        assertTrue(FenceVerifier.verify(GridLooks.bytes(text), Mode.MASK, true).whole());
        String promised = replaced(text, "g();", "g() .noreturn;");
        assertTrue(FenceVerifier.verify(GridLooks.bytes(promised), Mode.MASK, true).rejected().containsKey("k"));
    }

    /** An index that the rewriter follows and the verifier does not: without proofs it is cut to the table. */
    @Test
    void withoutProofsConstantsAreReadInsideTheirVariable() throws Exception {
        String program = HEAD + """
                .const .align 8 .b32 table[16] = {1, 2, 3};
                .visible .entry k(.param .u64 out, .param .u32 n)
                {
                .reg .b64 %rd<6>; .reg .b32 %r<3>; .reg .b16 %rs<3>;
                ld.param.u64 %rd1, [out];
                ld.param.u32 %r1, [n];
                cvt.u16.u32 %rs1, %r1;
                min.u16 %rs1, %rs1, 3;
                cvt.u32.u16 %r2, %rs1;
                mul.wide.u32 %rd2, %r2, 8;
                mov.u64 %rd3, table;
                add.u64 %rd3, %rd3, %rd2;
                ld.const.u64 %rd4, [%rd3];
                st.global.u64 [%rd1], %rd4;
                ret;
                }
                """;
        for (FenceMode mode : FenceMode.values()) {
            String text = Fencer.withoutProofs(mode, false).fence(PtxParser.parse(program)).ptx();
            assertEquals(Map.of(), FenceVerifier.verify(GridLooks.bytes(text), Mode.valueOf(mode.name()), false).rejected(), mode.toString());
        }
        String text = fenced(program);
        for (String[] change : new String[][] {{", 56;", ", 64;"}, {"min.u64", "max.u64"}}) {
            String changed = replaced(text, change[0], change[1]);
            assertTrue(verify(changed).rejected().containsKey("k"), () -> change[0] + "\n" + changed);
        }
    }
}
