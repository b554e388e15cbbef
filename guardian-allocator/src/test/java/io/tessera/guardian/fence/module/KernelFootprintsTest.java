package io.tessera.guardian.fence.module;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.cache.FencedTables;
import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.KernelWrites;
import io.tessera.guardian.ptx.parse.PtxParser;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** From which parameters a kernel derives the addresses that it writes and reads, and when that is not known. */
class KernelFootprintsTest {
    private static final String MODULE = ".version 8.6\n.target sm_90\n.address_size 64\n"
            + ".visible .global .align 8 .b8 variable[64];\n.const .align 8 .b8 fixed[64];\n.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
            + ".func helper(.param .b64 p) { ret; }\n";
    private static final String PARAMETERS = ".param .u64 out, .param .u32 n, .param .u64 in, .param .align 8 .b8 both[24]";
    /** Offsets of out, in, and the second and third 8 bytes of the structure. */
    private static final int OUT = 0;
    private static final int IN = 16;
    private static final int SECOND = 32;
    private static final int THIRD = 40;

    private static KernelWrites of(String statements) throws Exception {
        String text = MODULE + ".visible .entry k(" + PARAMETERS + ") {\n.reg .b64 %d<20>; .reg .b32 %r<20>; .reg .f32 %f<9>; .reg .pred %p<4>;\n"
                + ".local .align 8 .b8 frame[32]; .shared .align 8 .b8 tile[64];\n"
                + "ld.param.u64 %d1, [out]; ld.param.u32 %r1, [n]; ld.param.u64 %d2, [in]; mov.u32 %r2, %tid.x; mul.wide.u32 %d3, %r2, 4;\n"
                + statements + "\nret;\n}\n";
        KernelWrites writes = FencedTables.of(new Fencer(FenceMode.MASK).fence(PtxParser.parse(text))).writes().get("k");
        assertNotNull(writes, "the kernel is in the tables");
        return writes;
    }

    private static void known(List<Integer> written, List<Integer> read, String statements) throws Exception {
        assertEquals(new KernelWrites(written, read, null), of(statements));
    }

    @Test
    void whatIsDerivedFromParametersIsKnown() throws Exception {
        known(List.of(), List.of(), "");
        known(List.of(OUT), List.of(IN),
                "cvta.to.global.u64 %d4, %d2; add.s64 %d5, %d4, %d3; ld.global.f32 %f1, [%d5+4]; add.s64 %d6, %d1, %d3; st.global.f32 [%d6], %f1;");
        known(List.of(OUT), List.of(OUT), "add.s64 %d6, %d3, %d1; ld.f32 %f1, [%d6]; st.f32 [%d6], %f1;");
        known(List.of(OUT), List.of(OUT), "red.global.add.u32 [%d1], 1;");
        known(List.of(OUT), List.of(OUT), "atom.global.add.u32 %r3, [%d1], 1;");
        known(List.of(IN), List.of(), "mad.lo.s64 %d4, %d3, 8, %d2; st.global.u32 [%d4], 0;");
    }

    @Test
    void pointersThatMoveInLoopsAreKnown() throws Exception {
        known(List.of(OUT), List.of(IN), "mov.u64 %d4, %d2; mov.u64 %d5, %d1;\nagain: ld.global.u32 %r3, [%d4]; st.global.u32 [%d5], %r3;\n"
                + "add.s64 %d4, %d4, 128; add.s64 %d5, %d5, 128; sub.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra again;");
    }

    /** The register has several sources: each of them may be written. */
    @Test
    void anAddressMayHaveSeveralSources() throws Exception {
        known(List.of(OUT, IN), List.of(), "setp.eq.u32 %p1, %r1, 7; selp.b64 %d4, %d1, %d2, %p1; st.global.u32 [%d4], 0;");
        known(List.of(OUT, IN), List.of(), "mov.u64 %d4, %d1; setp.eq.u32 %p1, %r1, 7; @%p1 mov.u64 %d4, %d2; st.global.u32 [%d4], 0;");
        known(List.of(OUT, SECOND), List.of(), "ld.param.u64 %d4, [both+8]; add.s64 %d5, %d1, %d4; st.global.u32 [%d5], 0;");
    }

    @Test
    void pointersInStructuresHaveTheirOwnOffsets() throws Exception {
        known(List.of(THIRD), List.of(SECOND),
                "ld.param.u64 %d4, [both+8]; ld.param.u64 %d5, [both+16]; ld.global.u32 %r3, [%d4]; st.global.u32 [%d5], %r3;");
    }

    /** An index that comes from memory is a number; the address is the parameter's. */
    @Test
    void anIndexFromMemoryIsNoAddress() throws Exception {
        known(List.of(OUT), List.of(IN), "ld.global.u32 %r3, [%d2]; mul.wide.u32 %d4, %r3, 4; add.s64 %d5, %d1, %d4; st.global.u32 [%d5], 0;");
        known(List.of(OUT), List.of(IN), "ld.global.u64 %d4, [%d2]; shl.b64 %d5, %d4, 2; add.s64 %d6, %d1, %d5; st.global.u32 [%d6], 0;");
    }

    @Test
    void ownMemoryOfThreadsAndBlocksDoesNotMatter() throws Exception {
        known(List.of(), List.of(), "mov.u32 %r3, tile; st.shared.u32 [%r3], 1; ld.shared.u32 %r4, [%r3]; st.local.u32 [frame], 1;");
        known(List.of(OUT), List.of(), "ld.const.u32 %r3, [fixed]; st.global.u32 [%d1], %r3;");
    }

    @ParameterizedTest
    @ValueSource(strings = {
            "ld.global.u64 %d4, [%d2]; st.global.u32 [%d4], 0;", // a pointer from memory
            "ld.global.u64 %d4, [%d2]; ld.global.u32 %r3, [%d4]; st.global.u32 [%d1], %r3;",
            "ld.global.u64 %d4, [%d2]; add.s64 %d5, %d1, %d4; st.global.u32 [%d5], 0;", // it may be the address, and the parameter the index
            "mov.u64 %d4, variable; st.global.u32 [%d4], 0;", "ld.global.u32 %r3, [variable]; st.global.u32 [%d1], %r3;",
            "st.volatile.global.u32 [%d1], 0;", "ld.volatile.global.u32 %r3, [%d2];", "st.global.relaxed.sys.u32 [%d1], 0;",
            "atom.global.sys.add.u32 %r3, [%d1], 1;", "fence.acq_rel.sys;",
            "{ .param .b64 p; st.param.b64 [p], %d1; call helper, (p); }",
            "{ .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], %d1; st.param.b64 [a], %d2; call (r), vprintf, (f, a); }",
            "mov.b64 {%r3, %r4}, %d1; mov.b64 %d4, {%r3, %r4}; st.global.u32 [%d4], 0;", // put together from parts
            "xor.b64 %d4, %d1, %d2; xor.b64 %d4, %d4, %d2; st.global.u32 [%d4], 0;",
            "mov.u64 %d4, 0x7f0000000000; st.global.u32 [%d4], 0;"
    })
    void elseNothingIsSaid(String statements) throws Exception {
        KernelWrites writes = of(statements);
        assertNotNull(writes.unknown(), () -> writes + " of " + statements);
        assertTrue(writes.unknown().startsWith("The accesses of k are not known"), writes.unknown());
        assertTrue(writes.written().isEmpty() && writes.read().isEmpty());
    }

    @Test
    void functionsThatAreNoKernelsHaveNone() throws Exception {
        FencedTables tables = FencedTables.of(new Fencer(FenceMode.MASK).fence(PtxParser.parse(MODULE + ".visible .entry k() { ret; }\n")));
        assertEquals(List.of("k"), List.copyOf(tables.writes().keySet()));
        assertNull(tables.writes().get("k").unknown());
    }
}
