package io.tessera.guardian.verify.module;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.module.Fencer;
import io.tessera.guardian.ptx.parse.PtxParser;
import io.tessera.guardian.verify.Mode;
import io.tessera.guardian.verify.Verdict;
import io.tessera.guardian.verify.WorkBudget;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Many branches by one table: their ways are as many as both multiplied, what is looked at is as much as both added. */
class BranchTablesTest {
    private static final int MANY = 500;

    /** An interpreter: each of the places does something, and goes on by the same table. */
    private static String text(int places) {
        StringBuilder text = new StringBuilder(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 to, .param .u32 n)\n{\n"
                + ".reg .b32 %r<5>; .reg .b64 %rd<3>;\nld.param.u64 %rd1, [to];\nld.param.u32 %r1, [n];\nmov.u32 %r2, 0;\n");
        text.append("table: .branchtargets ").append(IntStream.range(0, places).mapToObj(i -> "L" + i).collect(Collectors.joining(", ")))
                .append(";\n");
        text.append("brx.idx %r1, table;\n");
        for (int i = 0; i < places - 1; i++) {
            text.append('L').append(i).append(":\nadd.u32 %r2, %r2, ").append(i).append(";\nst.global.u32 [%rd1], %r2;\nadd.u32 %r1, %r1, ")
                    .append(1 + i % 3)
                    .append(";\nbrx.idx %r1, table;\n");
        }
        return text.append('L').append(places - 1).append(":\nst.global.u32 [%rd1], %r2;\nret;\n}\n").toString();
    }

    private static byte[] fenced(int places, FenceMode mode) throws Exception {
        var fenced = Fencer.withoutProofs(mode, false).fence(PtxParser.parse(text(places)));
        assertEquals(Map.of(), fenced.refused());
        return fenced.ptx().getBytes(StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @EnumSource
    void interpretersAreVerified(FenceMode mode) throws Exception {
        byte[] some = fenced(MANY / 4, mode);
        byte[] many = fenced(MANY, mode);
        WorkBudget before = WorkBudget.ofBytes(some.length);
        WorkBudget after = WorkBudget.ofBytes(many.length);
        assertEquals(List.of("k"), FenceVerifier.verify(some, Mode.valueOf(mode.name()), false, before).accepted());
        Verdict verdict = FenceVerifier.verify(many, Mode.valueOf(mode.name()), false, after);
        assertEquals(List.of("k"), verdict.accepted(), verdict.rejected()::toString);
        assertTrue(after.spent() < 6 * before.spent(), before.spent() + " steps, and then " + after.spent());
    }

    /** A cycle that only goes through the table must look at the stop word like any other. */
    @Test
    void cyclesByATableThatDoNotLookAreRejected() throws Exception {
        String text = new String(fenced(4, FenceMode.MASK), StandardCharsets.UTF_8);
        assertTrue(FenceVerifier.verify(text.getBytes(StandardCharsets.UTF_8), Mode.MASK, false).whole());
        String blind = text.replaceAll("ld\\.volatile\\.global\\.u32", "ld.global.u32");
        assertFalse(blind.equals(text), text);
        assertFalse(FenceVerifier.verify(blind.getBytes(StandardCharsets.UTF_8), Mode.MASK, false).whole());
    }
}
