package io.tessera.guardian.verify.module;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.module.Fencer;
import io.tessera.guardian.ptx.parse.PtxParser;
import io.tessera.guardian.verify.Mode;
import io.tessera.guardian.verify.Verdict;
import io.tessera.guardian.verify.WorkBudget;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The work to verify a text grows as the text does, and ends where it does not. */
class WorkBudgetTest {
    private static final int BARRIERS = 150;

    /** Kernels with this many barriers under a condition, each of which the fence makes many blocks of. */
    private static byte[] barriers(int kernels, int barriers, FenceMode mode) throws Exception {
        StringBuilder text = new StringBuilder(".version 8.0\n.target sm_90\n.address_size 64\n");
        for (int k = 0; k < kernels; k++) {
            text.append(".visible .entry k").append(k).append("(.param .u64 to)\n{\n.reg .b32 %r<4>; .reg .pred %p<2>; .reg .b64 %rd<2>;\n"
                    + "ld.param.u64 %rd1, [to];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, 0;\n");
            for (int i = 0; i < barriers; i++) {
                text.append("and.b32 %r3, %r1, ").append(i % 7).append(";\nsetp.eq.u32 %p1, %r3, 0;\n@%p1 bra L").append(i).append(";\nbar.sync ")
                        .append(i % 16).append(", 64;\nadd.u32 %r2, %r2, 1;\nL").append(i).append(":\n");
            }
            text.append("st.global.u32 [%rd1], %r2;\nret;\n}\n");
        }
        return Fencer.withoutProofs(mode, false).fence(PtxParser.parse(text.toString())).ptx().getBytes(StandardCharsets.UTF_8);
    }

    private static long steps(byte[] text, int kernels, FenceMode mode) throws Exception {
        WorkBudget work = WorkBudget.ofBytes(text.length);
        assertEquals(kernels, FenceVerifier.verify(text, Mode.valueOf(mode.name()), false, work).accepted().size());
        return work.spent();
    }

    @ParameterizedTest
    @EnumSource
    void barriersTakeWorkInProportion(FenceMode mode) throws Exception {
        byte[] one = barriers(1, BARRIERS, mode);
        byte[] more = barriers(1, 8 * BARRIERS, mode);
        double before = (double) steps(one, 1, mode) / one.length;
        double after = (double) steps(more, 1, mode) / more.length;
        assertTrue(after < 1.05 * before, () -> before + " steps for a byte, and then " + after);
        byte[] many = barriers(8, BARRIERS, mode);
        assertTrue((double) steps(many, 8, mode) / many.length < 1.05 * before);
    }

    @Test
    void kernelsAreRejectedOnceTheWorkIsDone() throws Exception {
        byte[] text = barriers(4, BARRIERS, FenceMode.MASK);
        long whole = steps(text, 4, FenceMode.MASK);
        Verdict verdict = FenceVerifier.verify(text, Mode.MASK, false, WorkBudget.ofSteps(whole / 2));
        assertTrue(!verdict.accepted().isEmpty() && verdict.accepted().size() < 4, verdict.accepted().toString());
        verdict.rejected().values()
                .forEach(why -> assertTrue(why.getMessage().contains("takes more work to verify than a text of its size may"), why.getMessage()));
        assertEquals(4, verdict.accepted().size() + verdict.rejected().size());
    }
}
