package io.tessera.guardian.verify.module;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.module.Fencer;
import io.tessera.guardian.ptx.parse.PtxParser;
import io.tessera.guardian.verify.Mode;
import io.tessera.guardian.verify.UnverifiedException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A grid of more blocks than any GPU ends in a year is one launch. */
class GridLookTest {
    private static final String HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n";
    private static final String NOTHING = HEAD + ".visible .entry k()\n{\nret;\n}\n";
    private static final String WHY = "in each block of a grid before the first look at the stop word";

    private static Map<String, UnverifiedException> rejected(String text, Mode mode) throws UnverifiedException {
        return FenceVerifier.verify(text.getBytes(StandardCharsets.UTF_8), mode, false).rejected();
    }

    @ParameterizedTest
    @EnumSource(names = {"MASK", "MODULO", "CHECK"})
    void blocksOfLargeGridsLook(FenceMode mode) throws Exception {
        String text = Fencer.withoutProofs(mode, false).fence(PtxParser.parse(NOTHING)).ptx();
        assertEquals(Map.of(), rejected(text, Mode.valueOf(mode.name())));
        assertTrue(rejected(NOTHING, Mode.valueOf(mode.name())).get("k").getMessage().contains(WHY));
        assertEquals(Map.of(), rejected(NOTHING, Mode.NONE), "a tenant that is alone");
        for (String[] change : new String[][] {{"%nctaid.x", "%ctaid.x"}, {"%nctaid.z", "%ctaid.z"}, {"setp.gt.u64", "setp.gt.s64"},
                {"setp.gt.u64", "setp.lt.u64"},
                {"mul.lo.u32", "add.u32"}, {"mul.lo.u32", "mul.hi.u32"}, {"%__tessera_grid_r1, %nctaid.x", "%__tessera_grid_r0, %nctaid.x"},
                {"(_d0, \\d+)", "$1" + "00000"},
                {"_window+40", "_window+32"}, {"volatile.global", "global"}, {"setp.lt.s32", "setp.gt.s32"}, {"exit", "ret"},
                {"@%__tessera_grid_p0 exit", "@!%__tessera_grid_p0 exit"}, {"@%__tessera_grid_p0 ld", "@!%__tessera_grid_p0 ld"},
                {"_r0, 1;", "_r0, -1;"}}) {
            String mutant = text.replaceFirst(change[0].startsWith("(") ? change[0] : Pattern.quote(change[0]), change[1]);
            assertFalse(mutant.equals(text), change[0] + " is not in " + text);
            assertTrue(rejected(mutant, Mode.valueOf(mode.name())).containsKey("k"), mutant);
        }
    }

    /** Accesses of all threads take many times as long as instructions. */
    @Test
    void accessesOfABlockCount() throws Exception {
        String stores = HEAD + ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %rd<2>;\nld.param.u64 %rd1, [p];\n"
                + "st.global.u64 [%rd1], %rd1;\n".repeat(64)
                + "ret;\n}\n";
        for (FenceMode mode : new FenceMode[] {FenceMode.MASK, FenceMode.CHECK}) {
            String text = new Fencer(mode).fence(PtxParser.parse(stores)).ptx();
            Pattern limit = Pattern.compile("(setp\\.gt\\.u64.*), (\\d+);");
            Matcher found = limit.matcher(text);
            assertTrue(found.find());
            long blocks = Long.parseLong(found.group(2));
            assertTrue(blocks <= (1 << 26) / 64 && blocks > (1 << 26) / 64 / 2, blocks + " blocks");
            assertEquals(Map.of(), rejected(text, Mode.valueOf(mode.name())));
            assertTrue(rejected(limit.matcher(text).replaceFirst("$1, " + 3 * blocks + ";"), Mode.valueOf(mode.name())).get("k").getMessage()
                    .contains(WHY));
        }
    }

    /** The more a block does, the fewer begin without a look. */
    @Test
    void howManyDependsOnWhatTheyDo() throws Exception {
        String loop = HEAD
                + ".visible .entry k(.param .u32 n)\n{\n.reg .b32 %r<3>; .reg .pred %p<2>;\nld.param.u32 %r1, [n];\nl: add.u32 %r1, %r1, -3;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra l;\nret;\n}\n";
        String text = Fencer.withoutProofs(FenceMode.MASK, false).fence(PtxParser.parse(loop)).ptx();
        assertEquals(Map.of(), rejected(text, Mode.MASK));
        assertTrue(rejected(text.replaceFirst("(setp\\.gt\\.u64.*), \\d+;", "$1, 687194767360;"), Mode.MASK).get("k").getMessage().contains(WHY));
        String straight = NOTHING.replace("{\n", "{\n.reg .b32 %r<2>;\n" + "add.u32 %r1, %r1, 1;\n".repeat(1 << 15));
        String many = Fencer.withoutProofs(FenceMode.MASK, false).fence(PtxParser.parse(straight)).ptx();
        assertEquals(Map.of(), rejected(many, Mode.MASK));
        long blocks = Long.parseLong(many.replaceFirst("(?s).*setp\\.gt\\.u64\\s+%__tessera_grid_p0, %__tessera_grid_d0, (\\d+);.*", "$1"));
        assertTrue(blocks > (1L << 36) / ((1 << 16) + 64) && blocks <= (1L << 36) / (1 << 16), blocks + " blocks");
        assertEquals(List.of("k"), FenceVerifier.verify(many.getBytes(StandardCharsets.UTF_8), Mode.MASK, false).accepted());
    }
}
