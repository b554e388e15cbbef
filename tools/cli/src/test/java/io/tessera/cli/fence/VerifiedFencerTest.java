package io.tessera.cli.fence;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FenceRefusedException;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.fence.module.Fencer;
import io.tessera.guardian.fence.plan.PlainFunctions;
import io.tessera.guardian.ptx.PtxFunction;
import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.parse.PtxParser;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What is made of text that the verifier does not accept. */
class VerifiedFencerTest {
    private static PtxModule module() throws Exception {
        return PtxParser.parse(FenceRunFixture.PTX.getBytes(StandardCharsets.US_ASCII));
    }

    /** Fenced, but for a kernel that is as it was. */
    private static FencedModule unfenced(PtxModule module, String kernel) throws FenceRefusedException {
        FencedModule fenced = new Fencer(FenceMode.MASK).fence(module);
        var directives = new ArrayList<>(fenced.module().directives());
        directives.replaceAll(each -> each instanceof PtxFunction f && f.name().equals(kernel)
                ? module.functions().stream().filter(g -> g.name().equals(kernel)).findFirst().orElseThrow() : each);
        PtxModule changed = new PtxModule(fenced.module().version(), fenced.module().targets(), fenced.module().addressBits(), directives);
        return new FencedModule(fenced.mode(), changed, fenced.id(), fenced.variables(), fenced.patches(), fenced.functions(), fenced.assertTexts(),
                fenced.tensorMaps(), fenced.refused(), fenced.clusters(), fenced.waits(), fenced.reports());
    }

    @Test
    void whatIsAcceptedIsKept() throws Exception {
        FencedModule fenced = new VerifiedFencer(FenceMode.MASK, 90).fence(module(), false);
        assertEquals(new Fencer(FenceMode.MASK).fence(module()), fenced);
    }

    @Test
    void whatIsNotAcceptedIsFencedWithoutProofsAloneInItsModule() throws Exception {
        List<PlainFunctions> asked = new ArrayList<>();
        FencedModule fenced = new VerifiedFencer(plain -> (module, _) -> {
            asked.add(plain);
            return plain.contains("add") ? new Fencer(FenceMode.MASK).plainly(plain).fence(module) : unfenced(module, "add");
        }).fence(module(), false);
        assertEquals(List.of(Set.of(), Set.of("add")), asked.stream().map(PlainFunctions::names).toList());
        assertEquals(Set.of(), fenced.refused().keySet());
        assertTrue(fenced.ptx().contains("or.b32"));
        assertEquals(List.of("add"),
                fenced.reports().stream().filter(report -> report.notes().stream().anyMatch(note -> note.startsWith("fenced without proofs: line ")))
                        .map(report -> report.name()).toList(),
                fenced.reports().toString());
    }

    @Test
    void whatIsNotAcceptedEitherIsLeftOutAndTheOthersKeepTheirProofs() throws Exception {
        List<PlainFunctions> asked = new ArrayList<>();
        FencedModule fenced = new VerifiedFencer(plain -> (module, _) -> {
            asked.add(plain);
            return unfenced(module, "add");
        }).fence(module(), false);
        assertEquals(List.of(false, false, true), asked.stream().map(PlainFunctions::all).toList());
        assertEquals(Set.of("add"), fenced.refused().keySet());
        assertTrue(fenced.refused().get("add").getMessage().matches("add: is not seen to be fenced: line \\d+: st.global.u64: .*"));
        assertFalse(fenced.ptx().contains("add("));
        assertEquals(List.of("scale"), fenced.reports().stream().map(report -> report.name()).toList());
        assertEquals(List.of(), fenced.reports().getFirst().notes().stream().filter(note -> note.contains("without proofs")).toList());
    }

    @Test
    void aTextThatNoneMayHaveIsRefused() throws Exception {
        PtxModule module = PtxParser.parse((FenceRunFixture.PTX + ".global .u32 mine;\n").getBytes(StandardCharsets.US_ASCII));
        ImageFencer.Fencing none = (any, _) -> new FencedModule(FenceMode.MASK, any, 1, List.of(), List.of(), List.of(), List.of(), List.of(),
                Map.of(), true, false, List.of());
        FenceRefusedException refused = assertThrows(FenceRefusedException.class, () -> new VerifiedFencer(_ -> none).fence(module, false));
        assertTrue(refused.getMessage().contains("'mine' is global memory outside of the window"), refused.getMessage());
    }
}
