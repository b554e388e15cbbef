package io.tessera.guardian.slice;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.fence.FenceRefusedException;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.parse.PtxParser;
import io.tessera.guardian.ptx.print.PtxPrinter;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests which kernels can execute parts of their grids, and the code that is added to them. Their results are tested on the software GPU. */
class GridSlicesTest {
    private static final String HEAD = ".version 8.5\n.target sm_90\n.address_size 64\n";

    private static PtxModule sliced(String text) throws Exception {
        return GridSlices.of(PtxParser.parse(HEAD + text), "k");
    }

    private static String text(PtxModule module) {
        return PtxPrinter.print(module).replaceAll("[ \t]+", " ");
    }

    private static String refusal(String text) {
        return assertThrows(FenceRefusedException.class, () -> sliced(text)).getMessage();
    }

    private static String kernel(String attributes, String body) {
        return ".visible .entry k(.param .u64 p) " + attributes + "\n{\n .reg .b32 %r<4>;\n .reg .pred %q;\n" + body + "\n ret;\n}\n";
    }

    @Test
    void sixParametersComeBehindItsOwn() throws Exception {
        PtxModule module = sliced(
                ".global .u32 count;\n.visible .entry other()\n{\n ret;\n}\n" + kernel("", "mov.u32 %r0, %ctaid.y;\n mov.u32 %r1, %nctaid.z;"));
        List<PtxFunction> entries = module.functions();
        assertEquals(List.of("k"), entries.stream().map(PtxFunction::name).toList());
        assertEquals(7, entries.getFirst().parameters().size());
        assertEquals(1, module.variables().size());
        String text = text(module);
        assertTrue(text.contains("mov.u32 %r0, %ctaid.y") && text.contains("add.u32 %r0, %r0, "), text);
        assertFalse(text.contains("%nctaid"), text);
    }

    @Test
    void aVariableWithTheNameOfAParameterIsRefused() {
        assertTrue(refusal(".global .u32 $grid_x;\n" + kernel("", "")).contains("the name is needed for a parameter"));
    }

    @Test
    void aGuardHoldsForAllThatIsAdded() throws Exception {
        String text = text(sliced(kernel("", "@%q mov.u32 %r0, %ctaid.x;\n@!%q mov.u32 %r0, %nctaid.x;")));
        assertEquals(3, text.split("@%p0 ", -1).length - 1, text);
        assertEquals(1, text.split("@!%p0 ld.param.u32 %r0, ", -1).length - 1, text);
    }

    @ParameterizedTest
    @CsvSource({"'mov.u64 %l, %gridid;'", "'mov.u32 %r0, %envreg1;'", "'mov.u32 %r0, %clusterid.x;'", "'mov.u32 %r0, %cluster_ctaid.x;'",
            "'mov.u32 %r0, %cluster_nctarank;'", "'add.u32 %r0, %r0, %ctaid.x;'", "'cvt.u64.u32 %l, %nctaid.x;'", "'mov.u32 %r0, %ctaid.w;'"})
    void whoSeesThatItIsInAPartIsRefused(String instruction) {
        String said = refusal(kernel("", ".reg .b64 %l;\n" + instruction));
        assertTrue(said.contains("it reads which block of which grid it is in"), said);
    }

    @ParameterizedTest
    @ValueSource(strings = {"griddepcontrol.wait;", "barrier.cluster.arrive;", "mapa.u32 %r0, %r1, %r2;"})
    void gridsAndBlocksThatDependOnEachOtherAreRefused(String instruction) {
        String said = refusal(kernel("", instruction));
        assertTrue(said.contains("a grid with it is not launched in parts"), said);
    }

    @Test
    void clustersAreRefused() {
        String said = refusal(kernel(".reqnctapercluster 2, 1, 1", ""));
        assertTrue(said.contains("a grid of clusters is not launched in parts"), said);
    }

    @Test
    void aFunctionThatReadsTheBlockIsRefused() {
        String said = refusal(".func f()\n{\n .reg .b32 %r;\n mov.u32 %r, %ctaid.x;\n ret;\n}\n" + kernel("", "call f;"));
        assertTrue(said.contains("it reads which block of which grid it is in"), said);
    }

    @Test
    void aKernelThatIsNotThereIsRefused() {
        assertTrue(refusal(".visible .entry other()\n{\n ret;\n}\n").contains("no kernel of the module has this name"));
    }
}
