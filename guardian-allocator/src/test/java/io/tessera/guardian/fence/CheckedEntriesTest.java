package io.tessera.guardian.fence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.ptx.parse.PtxParser;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Second entries for launches that were looked at: what they ask for is what they leave out, and nothing else of the walls is missing. */
@Timeout(180)
class CheckedEntriesTest {
    private static final String ENTRY = "__tessera_checked_k";
    private static final String FEW = "__tessera_few_k";
    private static final String COPY = """
            ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [s+8]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 8;
            add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3; ld.global.u64 %rd6, [%rd4]; st.global.u64 [%rd5], %rd6;
            """;
    private static final String BY_THREAD = """
            mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, tile; add.s32 %r3, %r3, %r2; st.shared.u32 [%r3], %r1;
            """;

    private static String module(String statements) {
        return ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p, .param .align 8 .b8 s[24], .param .u32 n)\n{\n"
                + ".reg .b32 %r<10>;\n.reg .b64 %rd<10>;\n.reg .pred %p<3>;\n.shared .align 4 .b8 tile[1024];\n" + statements + "\nret;\n}\n";
    }

    private static FencedModule fence(FenceMode mode, String statements) throws Exception {
        FencedModule fenced = Fencer.specialising(mode).fence(PtxParser.parse(module(statements)));
        PtxParser.parse(fenced.ptx());
        return fenced;
    }

    /** The entry's text. */
    private static String body(FencedModule fenced) {
        return fenced.ptx().substring(fenced.ptx().indexOf(".entry " + ENTRY));
    }

    @ParameterizedTest
    @EnumSource(names = {"MASK", "MODULO"})
    void pointersAreAskedForWhereTheKernelFencesThem(FenceMode mode) throws Exception {
        FencedModule fenced = fence(mode, COPY);
        assertEquals(List.of(new CheckedEntry("k", ENTRY, "", 0, 0, 0, List.of(), List.of(new CheckedEntry.Pointer(0, 0, 8),
                new CheckedEntry.Pointer(1, 8, 8)))), fenced.entries());
        assertFalse(body(fenced).contains(WindowConstants.NAME), body(fenced));
        assertFalse(body(fenced).contains("and.b"), body(fenced));
        assertTrue(fenced.ptx().substring(0, fenced.ptx().indexOf(ENTRY)).contains("[" + WindowConstants.NAME), "the kernel itself is fenced");
    }

    /** A grid's stride over an array, as {@code for (i = tid; i < n; i += nctaid * ntid)}. */
    private static final String STRIDE = """
            ld.param.u64 %rd1, [p]; ld.param.u32 %r5, [n]; mov.u32 %r1, %tid.x; mov.u32 %r2, %nctaid.x; mov.u32 %r3, %ntid.x; mul.lo.s32 %r4, %r2, %r3;
            next: mul.wide.s32 %rd3, %r1, 8; add.s64 %rd4, %rd1, %rd3; st.global.u64 [%rd4], %rd1; add.s32 %r1, %r1, %r4; setp.lt.s32 %p1, %r1, %r5;
            @%p1 bra next;
            """;

    @Test
    void loopsAloneAreNotWorthOne() throws Exception {
        assertEquals(List.of(), fence(FenceMode.NONE, STRIDE).entries());
        assertEquals(1, fence(FenceMode.MASK, STRIDE).entries().getFirst().pointers().size());
    }

    @ParameterizedTest
    @EnumSource(names = {"CHECK", "NONE"})
    void otherModesHaveNoneForPointersAlone(FenceMode mode) throws Exception {
        FencedModule fenced = fence(mode, COPY);
        assertEquals(List.of(), fenced.entries());
        assertFalse(fenced.ptx().contains(ENTRY));
    }

    @Test
    void pointersFromElsewhereStayFenced() throws Exception {
        FencedModule fenced = fence(FenceMode.MASK, COPY + "ld.global.u64 %rd7, [%rd4]; st.global.u64 [%rd7], %rd6;");
        assertEquals(2, fenced.entries().getFirst().pointers().size());
        assertTrue(body(fenced).contains("and.b32"), "a pointer from memory");
        FencedModule far = fence(FenceMode.MASK, COPY + "mul.lo.u64 %rd7, %rd6, %rd6; add.s64 %rd7, %rd1, %rd7; st.global.u64 [%rd7], %rd6;");
        assertTrue(body(far).contains("and.b32"), "an amount that may be any");
    }

    @Test
    void numbersAndNullsAreNotAskedFor() throws Exception {
        FencedModule fenced = fence(FenceMode.MASK, COPY + "ld.param.u64 %rd7, [s+16]; setp.eq.u64 %p1, %rd7, 0; @%p1 bra end; "
                + "st.global.u64 [%rd4], %rd7; end:");
        assertEquals(List.of(0, 1), fenced.entries().getFirst().pointers().stream().map(CheckedEntry.Pointer::parameter).toList());
        assertEquals(8, fenced.entries().getFirst().pointers().get(1).offsetBytes());
        assertEquals(List.of(), fence(FenceMode.MASK, "ld.param.u64 %rd1, [p]; setp.eq.u64 %p1, %rd1, 0;").entries(), "nothing to spare");
    }

    @Test
    void limitsAreTermsInPlaceOfComparisons() throws Exception {
        FencedModule fenced = fence(FenceMode.MASK, BY_THREAD);
        CheckedEntry entry = fenced.entries().getFirst();
        assertEquals(256, entry.blockX());
        assertEquals(0, entry.blockY());
        assertFalse(body(fenced).contains("setp"), body(fenced));
        assertFalse(body(fenced).contains("min."), body(fenced));
        assertFalse(body(fenced).contains("__tessera_shared"), "accesses are within the array");
        String rows = """
                ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; ld.param.u32 %r2, [s]; mul.wide.s32 %rd2, %r2, 4; mov.u32 %r5, 0;
                loop: ld.global.u32 %r8, [%rd1]; ld.global.u32 %r9, [%rd1+4];
                add.s64 %rd1, %rd1, %rd2; add.s32 %r5, %r5, 1; setp.lt.s32 %p2, %r5, %r1; @%p2 bra loop;
                """;
        FencedModule counted = fence(FenceMode.MASK, rows);
        assertEquals(2, counted.entries().getFirst().numbers().size(), counted.entries().toString());
        assertFalse(body(counted).contains("and.b32"), body(counted));
        String terms = counted.entries().getFirst().terms();
        assertTrue(terms.endsWith("parameter 0 in the window") && terms.contains("parameter 2 up to "), terms);
    }

    @ParameterizedTest
    @EnumSource(names = {"MASK", "MODULO"})
    void rowsAreBoundedByTheGridAndTheirLength(FenceMode mode) throws Exception {
        String rows = """
                ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; mov.u32 %r2, %ctaid.x; cvt.u64.u32 %rd2, %r2; cvt.s64.s32 %rd3, %r1;
                mul.lo.s64 %rd4, %rd3, %rd2; mov.u32 %r5, %tid.x;
                loop: cvt.s64.s32 %rd5, %r5; add.s64 %rd6, %rd4, %rd5; shl.b64 %rd6, %rd6, 2; add.s64 %rd7, %rd1, %rd6;
                ld.global.u32 %r8, [%rd7]; add.s32 %r5, %r5, 32; setp.lt.s32 %p2, %r5, %r1; @%p2 bra loop;
                """;
        FencedModule fenced = fence(mode, rows);
        CheckedEntry entry = fenced.entries().getFirst();
        assertEquals(1 << 16, entry.gridX());
        assertEquals(List.of(new CheckedEntry.Number(2, 0, 32, 1 << 16)), entry.numbers());
        assertFalse(body(fenced).contains(WindowConstants.NAME), body(fenced));
        assertEquals(0, fence(mode, rows.replace("%ctaid.x", "%ctaid.y")).entries().getFirst().gridX(), "the hardware bounds these");
    }

    @Test
    void whatACallGivesBackIsNoParameter() throws Exception {
        String text = module("{ .param .b64 given; call.uni (given), f, (); ld.param.b64 %rd1, [given]; } st.global.u64 [%rd1], %rd1;"
                + COPY.replace("[p]", "[s]")).replace(".visible .entry",
                        ".func (.param .b64 back) f() { .reg .b64 %rd<2>; mov.u64 %rd1, 7; st.param.b64 [back], %rd1; ret; }\n.visible .entry");
        FencedModule fenced = Fencer.specialising(FenceMode.MASK).fence(PtxParser.parse(text));
        assertEquals(List.of(1, 1), fenced.entries().getFirst().pointers().stream().map(CheckedEntry.Pointer::parameter).toList());
        FencedModule same = Fencer.specialising(FenceMode.MASK).fence(PtxParser.parse(text.replace("given", "p")));
        assertTrue(same.entries().stream().flatMap(entry -> entry.pointers().stream()).noneMatch(pointer -> pointer.parameter() == 0));
    }

    @Test
    void functionsAndReportsAreThoseOfTheOriginal() throws Exception {
        FencedModule fenced = fence(FenceMode.MASK, COPY);
        assertEquals(List.of("k", "k"), fenced.functions(), "records of both name the kernel");
        assertEquals(List.of("k"), fenced.reports().stream().map(KernelReport::name).toList());
    }

    @Test
    void aKernelThatIsRefusedHasNone() throws Exception {
        String text = module(COPY) + ".visible .entry bad(.param .u64 p) { .reg .b64 %rd<3>; .reg .b32 %r<2>; ld.param.u64 %rd1, [p];"
                + " st.global.u64 [%rd1], %rd1; multimem.ld_reduce.global.add.u32 %r1, [%rd1]; ret; }\n";
        FencedModule fenced = Fencer.specialising(FenceMode.MASK).fence(PtxParser.parse(text));
        assertEquals(List.of("bad"), List.copyOf(fenced.refused().keySet()));
        assertEquals(List.of("k"), fenced.entries().stream().map(CheckedEntry::kernel).toList());
        assertFalse(fenced.ptx().contains("__tessera_checked_bad"));
    }

    @ParameterizedTest
    @ValueSource(strings = {ENTRY, FEW})
    void aProgramMustNotHaveTheirNames(String name) {
        String text = module(COPY) + ".visible .entry " + name + "(.param .u64 p) { ret; }\n";
        assertThrows(FenceRefusedException.class, () -> Fencer.specialising(FenceMode.MASK).fence(PtxParser.parse(text)));
    }

    private static final String LONG_COPY = COPY + "add.u64 %rd6, %rd6, 1;\n".repeat(48);

    private static String few(String text) throws Exception {
        FencedModule fenced = Fencer.specialising(FenceMode.MASK).fence(PtxParser.parse(text));
        CheckedEntry entry = fenced.entries().getFirst();
        assertEquals(ENTRY, entry.entry());
        assertEquals(!entry.few().isEmpty(), fenced.ptx().contains(FEW), entry.few());
        return entry.few().isEmpty() ? "" : fenced.ptx().substring(fenced.ptx().indexOf(".entry " + FEW));
    }

    @Test
    void longKernelsHaveItOnceMoreForFewBlocks() throws Exception {
        String few = few(module(LONG_COPY));
        String head = few.substring(0, few.indexOf('{'));
        assertTrue(head.contains(".maxntid 256") && head.contains(".minnctapersm 1"), head);
        String entry = body(fence(FenceMode.MASK, LONG_COPY));
        assertEquals(entry.substring(entry.indexOf('{'), entry.indexOf("\n}")), few.substring(few.indexOf('{'), few.indexOf("\n}")), "the same code");
        assertEquals(List.of("k", "k"), fence(FenceMode.MASK, LONG_COPY).functions(), "and the same number in records");
        assertEquals("", few(module(COPY)), "what is short needs few registers");
    }

    @Test
    void whatAKernelSaysOfItsLaunchesStays() throws Exception {
        String sized = few(module(LONG_COPY).replace("\n{\n", "\n.reqntid 512, 1, 1\n{\n"));
        assertTrue(sized.contains(".reqntid 512, 1, 1") && sized.contains(".minnctapersm 1") && !sized.contains(".maxntid"), sized);
        for (String said : List.of(".maxnreg 32", ".maxntid 128\n.minnctapersm 4")) {
            assertEquals("", few(module(LONG_COPY).replace("\n{\n", "\n" + said + "\n{\n")), said);
        }
    }

    @Test
    void programsOfManyKernelsHaveNone() throws Exception {
        StringBuilder text = new StringBuilder(module(LONG_COPY));
        for (int i = 0; i < 31; i++) {
            text.append(".visible .entry k").append(i).append("() { ret; }\n");
        }
        assertTrue(few(text.toString()).startsWith(".entry"));
        assertEquals("", few(text + ".visible .entry last() { ret; }\n"));
    }
}
