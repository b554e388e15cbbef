package io.tessera.guardian.verify;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.Fencer;
import io.tessera.guardian.ptx.PtxParser;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Calls that are too many without a loop look at the stop word. */
class CallTreesTest {
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
        assertEquals(3, text.split("ld.volatile.global.u32", -1).length - 1, "a look at every twelfth doubling");
    }

    @Test
    void fewCallsDoNot() throws Exception {
        assertFalse(fenced(doubling(11), false).contains("ld.volatile.global.u32"));
    }

    @Test
    void withoutALookTheyAreNotAccepted() throws Exception {
        String text = fenced(doubling(48), false);
        for (String mutant : List.of(doubling(48), text.replaceFirst("@%\\S+ exit;", ""), text.replaceFirst("ld\\.volatile\\.global\\.u32\\s+(\\S+), \\[\\S+];", "mov.u32 $1, 4096;"),
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
        String text = fenced(".version 8.0\n.target sm_80\n.address_size 64\n.extern .func there();\n.visible .func here()\n{\n\tcall.uni there, ();\n"
                + "\tcall.uni there, ();\n\tret;\n}\n", true);
        assertTrue(text.contains("ld.volatile.global.u32"), text);
        assertTrue(verify(text, true).whole());
    }
}
