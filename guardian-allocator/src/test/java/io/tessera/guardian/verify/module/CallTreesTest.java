package io.tessera.guardian.verify.module;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.module.Fencer;
import io.tessera.guardian.ptx.parse.PtxParser;
import io.tessera.guardian.verify.Mode;
import io.tessera.guardian.verify.UnverifiedException;
import io.tessera.guardian.verify.Verdict;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Calls that are too many without a loop look at the stop word. */
class CallTreesTest {
    private static final String LOOK = "ld.volatile.global.u32";
    private static final String HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n";
    private static final String CALL = "\tcall.uni f%d, ();\n";

    /** Functions of which each calls the one before twice, and a kernel that calls the last. */
    private static String doubling(int functions) {
        StringBuilder text = new StringBuilder(".version 8.0\n.target sm_80\n.address_size 64\n");
        for (int i = 0; i < functions; i++) {
            text.append(".func f").append(i).append("()\n{\n").append(i == 0 ? "" : CALL.formatted(i - 1).repeat(2)).append("\tret;\n}\n");
        }
        return text.append(".visible .entry k()\n{\n").append(CALL.formatted(functions - 1)).append("\tret;\n}\n").toString();
    }

    private static String fenced(String text, boolean linked) throws Exception {
        return Fencer.withoutProofs(FenceMode.MASK, linked).fence(PtxParser.parse(text)).ptx();
    }

    private static Verdict verify(String text, boolean linked) throws UnverifiedException {
        return FenceVerifier.verify(text.getBytes(StandardCharsets.UTF_8), Mode.MASK, linked);
    }

    @Test
    void treesOfCallsLook() throws Exception {
        String text = fenced(doubling(48), false);
        assertEquals(Map.of(), verify(text, false).rejected());
        assertEquals(6 + 1, looks(text), "at both ends of every thirteenth, and in a large grid");
    }

    @Test
    void fewCallsDoNot() throws Exception {
        assertEquals(1, looks(fenced(doubling(10), false)), "in a large grid");
    }

    @Test
    void withoutALookTheyAreNotAccepted() throws Exception {
        String text = fenced(doubling(48), false);
        for (String mutant : List.of(doubling(48), text.replaceFirst("@%\\S+ exit;", ""),
                text.replaceFirst("ld\\.volatile\\.global\\.u32\\s+(\\S+), \\[\\S+];", "mov.u32 $1, 4096;"),
                text.replaceFirst("setp\\.lt\\.s32", "setp.gt.s32"))) {
            assertFalse(mutant.equals(text));
            assertTrue(verify(mutant, false).rejected().containsKey("k"), mutant);
        }
    }

    /** A look behind the first call comes too late: that call may be the one that never ends. */
    @Test
    void aLookBehindACallIsNone() throws Exception {
        String text = fenced(doubling(48), false);
        int look = text.indexOf("ld.const.u64");
        int end = text.indexOf("exit;", look) + "exit;".length();
        int behind = text.indexOf(';', text.indexOf("call.uni", end)) + 1;
        String late = text.substring(0, look) + text.substring(end, behind) + "\n\t" + text.substring(look, end) + text.substring(behind);
        assertTrue(verify(late, false).rejected().containsKey("k"), late);
    }

    @Test
    void whoCallsAnotherModuleLooks() throws Exception {
        String text = fenced(
                ".version 8.0\n.target sm_80\n.address_size 64\n.extern .func there();\n.visible .func here()\n{\n\tcall.uni there, ();\n"
                        + "\tcall.uni there, ();\n\tret;\n}\n",
                true);
        assertTrue(text.contains(LOOK), text);
        assertTrue(verify(text, true).whole());
    }

    /** A tree of calls whose leaves go round a loop so often: as often as it needs no look by itself. */
    private static String leaves(int levels, int calls, String loop) {
        StringBuilder text = new StringBuilder(HEAD);
        text.append(".func f0()\n{\n.reg .b32 %r<4>; .reg .b64 %d<4>; .reg .pred %p<2>;\n").append(loop).append("\nret;\n}\n");
        for (int i = 1; i < levels; i++) {
            text.append(".func f").append(i).append("()\n{\n").append(CALL.formatted(i - 1).repeat(calls)).append("\tret;\n}\n");
        }
        return text.append(".visible .entry k()\n{\n").append(CALL.formatted(levels - 1)).append("\tret;\n}\n").toString();
    }

    private static String proven(String text) throws Exception {
        return new Fencer(FenceMode.MASK).fence(PtxParser.parse(text)).ptx();
    }

    private static int looks(String text) {
        return text.split(LOOK, -1).length - 1;
    }

    /** The passes of the leaf's loop count for each call: they are as many as the loop of a function that is not called may have without a look. */
    @Test
    void loopsAtTheLeavesOfATreeCount() throws Exception {
        String counted = "mov.u32 %r1, 0; l: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 4090; @%p1 bra l;";
        String fuelled = "mov.u64 %d1, 0; l: add.u64 %d1, %d1, 1; setp.lt.u64 %p1, %d1, 4090; @%p1 bra l;";
        String text = proven(leaves(5, 7, counted));
        assertEquals(Map.of(), verify(text, false).rejected());
        assertEquals(2 + 1, looks(text), "at both ends of the leaf, and in a large grid");
        for (String loop : List.of(counted, fuelled)) {
            String plain = fenced(leaves(5, 7, loop), false);
            assertEquals(Map.of(), verify(plain, false).rejected());
            assertEquals(3 + 1, looks(plain), "at both ends of the leaf, in its loop, and in a large grid");
        }
        Map<String, UnverifiedException> rejected = verify(leaves(5, 7, counted), false).rejected();
        assertTrue(rejected.get("k").getMessage().contains("instructions between two looks"), rejected.toString());
        assertEquals(Map.of(), verify(GridLooks.added(leaves(3, 4, counted)), false).rejected(),
                "few calls of short loops are no more than a loop may do");
    }

    /** Without one of its looks a leaf costs its callers all that it does. */
    @Test
    void aLeafLooksAtBothEnds() throws Exception {
        String text = proven(leaves(5, 7, "mov.u32 %r1, 0; l: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 4090; @%p1 bra l;"));
        int first = text.indexOf(LOOK);
        int last = text.lastIndexOf(LOOK, text.indexOf(".entry"));
        assertTrue(first < last);
        for (int at : new int[] {first, last}) {
            int exit = text.indexOf("exit;", at);
            int guard = text.lastIndexOf('@', exit);
            assertTrue(verify(text.substring(0, guard) + text.substring(exit + "exit;".length()), false).rejected().containsKey("k"), text);
            assertTrue(verify(text.substring(0, exit) + "ret;" + text.substring(exit + "exit;".length()), false).rejected().containsKey("k"),
                    "goes on in the caller");
        }
    }

    /** Calls in a row of what is just short enough not to look: their callee looks then. */
    @Test
    void manyCallsInARow() throws Exception {
        String text = fenced(leaves(10, 2, "").replace(".entry k()\n{\n", ".entry k()\n{\n" + CALL.formatted(9).repeat(20_000)), false);
        assertEquals(2 + 1, looks(text));
        assertEquals(Map.of(), verify(text, false).rejected());
        assertTrue(verify(text.replaceFirst("@%\\S+ exit;", ""), false).rejected().containsKey("k"));
    }

    /** A function that may be called from elsewhere does little, or looks: so do calls of it. */
    @Test
    void ofLinkedModulesAllLook() throws Exception {
        String loop = HEAD
                + ".visible .func here()\n{\n.reg .b32 %r<4>; .reg .pred %p<2>;\nmov.u32 %r1, 0; l: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 4090; @%p1 bra l;\nret;\n}\n";
        String text = Fencer.withoutProofs(FenceMode.MASK, true).fence(PtxParser.parse(loop)).ptx();
        assertEquals(3, looks(text));
        assertTrue(verify(text, true).whole());
        String without = text.replaceFirst("@%\\S+ exit;", "");
        assertThrows(UnverifiedException.class, () -> verify(without, true), "does not look at its beginning");
        assertTrue(verify(without, false).whole(), "nobody else calls it");
    }
}
