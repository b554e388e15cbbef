package io.tessera.guardian.fence.module;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeout;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FenceRefusedException;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.ptx.parse.PtxParser;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests accesses that programs once reached through unbounded lengths, pragmas and sizes. */
class BoundsTest {
    private static final String HEAD = ".version 9.0\n.target sm_90a\n.address_size 64\n";

    private static FencedModule fenced(String statements) throws Exception {
        return Fences.plain(Fences.kernel(statements + "\nret;"), FenceMode.MASK);
    }

    /** A text that is nested, or branches, so that what was computed of it took the square of its length. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void timeIsInProportionToTheText(boolean loops) throws Exception {
        int many = 20_000;
        StringBuilder text = new StringBuilder(HEAD + ".visible .entry k() {\n.reg .pred p; .reg .u32 r;\n");
        for (int i = 0; i < many; i++) {
            text.append(loops ? "l" + i + ": add.u32 r, r, 1;\n" : "setp.eq.u32 p, r, " + i + "; @p bra x;\n");
        }
        for (int i = many - 1; loops && i >= 0; i--) {
            text.append("setp.ne.u32 p, r, 5; @p bra l").append(i).append(";\n");
        }
        byte[] bytes = text.append("x: ret;\n}\n").toString().getBytes(java.nio.charset.StandardCharsets.US_ASCII);
        assertTimeout(Duration.ofSeconds(60), () -> new Fencer(FenceMode.MASK).fence(PtxParser.parse(bytes)));
    }

    @Test
    void theSizeOfACopyIsBoundedWhateverItIs() throws Exception {
        String shared = ".shared .align 16 .b8 t[64]; .reg .v2 .u32 %v; ";
        assertTrue(fenced(shared + "cp.async.ca.shared.global [t], [%d1], 4, %v.y;").ptx().contains("min.u32"));
        assertTrue(fenced(shared + "{ .reg .pred %v; } cp.async.ca.shared.global [t], [%d1], 4, %v.x;").ptx().contains("min.u32"));
        assertTrue(assertThrows(FenceRefusedException.class, () -> fenced(shared + "cp.async.ca.shared.global [t], [%d1], 4, %tid.x;")).getMessage()
                .contains("how many bytes it reads"));
    }

    @Test
    void registersAreNotSpilledWhereTheProgramWrites() throws Exception {
        String text = fenced(".pragma \"enable_smem_spilling\";\n.pragma \"nounroll\";").ptx();
        assertFalse(text.contains("spilling"), text);
        assertTrue(text.contains(".pragma \"nounroll\";"), text);
    }

    @Test
    void aFenceOfATensorMapTakesItsKernelOutAndNoOther() throws Exception {
        FencedModule fenced = Fences.plain(HEAD + ".entry good() { ret; }\n.entry bad(.param .u64 p) { .reg .u64 q; ld.param.u64 q, [p];"
                + " fence.proxy.tensormap::generic.acquire.gpu [q], 128; ret; }", FenceMode.MASK);
        assertEquals(List.of("bad"), List.copyOf(fenced.refused().keySet()));
    }

    @Test
    void rowsOfAMatrixAreNotCountedFromAnAddressThatMayBeOfSharedMemory() {
        String statements = ".shared .align 32 .b8 t[512]; .reg .b64 %s<2>; .reg .b32 %m<9>; mov.u64 %s0, t; cvta.shared.u64 %s1, %s0; st.global.u64 [%d1], %s1;"
                + " ld.global.u64 %d2, [%d1]; wmma.load.a.sync.aligned.row.m16n16k16.f16 {%m0, %m1, %m2, %m3, %m4, %m5, %m6, %m7}, [%d2], %r1;";
        assertTrue(assertThrows(FenceRefusedException.class, () -> fenced(statements)).getMessage().contains("global or of shared memory"));
    }

    @Test
    void withoutProofsEveryLoopLooksAtTheStopWord() throws Exception {
        String text = Fences.kernel("mov.u32 %r1, 0; l: add.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 9; @%p1 bra l; ret;");
        String look = "ld.volatile.global.u32";
        assertEquals(2, Fencer.withoutProofs(FenceMode.MASK, false).fence(PtxParser.parse(text)).ptx().split(look, -1).length - 1,
                "in the loop and in a large grid");
        assertEquals(1, new Fencer(FenceMode.MASK).fence(PtxParser.parse(text)).ptx().split(look, -1).length - 1, "in a large grid");
    }
}
