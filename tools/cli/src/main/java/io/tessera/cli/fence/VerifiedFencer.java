package io.tessera.cli.fence;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FenceRefusedException;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.fence.Fencer;
import io.tessera.guardian.fence.KernelReport;
import io.tessera.guardian.ptx.PtxException;
import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.PtxParser;
import io.tessera.guardian.verify.FenceVerifier;
import io.tessera.guardian.verify.Mode;
import io.tessera.guardian.verify.UnverifiedException;
import io.tessera.guardian.verify.Verdict;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Fences as an executor has it done: what the verifier does not accept is fenced anew without proofs, and kernels that it does not accept either are
 * left out. Code that is compiled and kept so is what an executor would make. Stateless.
 */
final class VerifiedFencer implements ImageFencer.Fencing {
    private final ImageFencer.Fencing proving;
    private final ImageFencer.Fencing plain;

    VerifiedFencer(FenceMode mode) {
        this(new Fencer(mode)::fence, Fencer.withoutProofs(mode, false)::fence);
    }

    /** With other fencers, for tests. */
    VerifiedFencer(ImageFencer.Fencing proving, ImageFencer.Fencing plain) {
        this.proving = proving;
        this.plain = plain;
    }

    @Override
    public FencedModule fence(PtxModule module) throws FenceRefusedException {
        FencedModule fenced = proving.fence(module);
        String why = null;
        try {
            Verdict verdict = verdict(fenced);
            if (verdict.whole()) {
                return fenced;
            }
            why = verdict.rejected().values().iterator().next().getMessage();
        } catch (UnverifiedException e) {
            why = e.getMessage();
        }
        FencedModule anew = plain.fence(module);
        try {
            return left(anew, verdict(anew), "fenced without proofs: " + why);
        } catch (UnverifiedException e) {
            throw new FenceRefusedException("the module", e.line(), "is not seen to be fenced: " + e.getMessage());
        }
    }

    private static Verdict verdict(FencedModule fenced) throws UnverifiedException {
        return FenceVerifier.verify(fenced.ptx().getBytes(StandardCharsets.UTF_8), Mode.valueOf(fenced.mode().name()), false);
    }

    /** What is accepted of a module. */
    private static FencedModule left(FencedModule fenced, Verdict verdict, String note) throws UnverifiedException {
        List<KernelReport> reports = new ArrayList<>();
        for (KernelReport report : fenced.reports()) {
            if (!verdict.rejected().containsKey(report.name())) {
                List<String> notes = new ArrayList<>(report.notes());
                notes.add(note);
                reports.add(new KernelReport(report.name(), report.kernel(), report.line(), report.accesses(), report.fences(), report.proved(),
                        report.calls(), notes));
            }
        }
        Map<String, FenceRefusedException> refused = new LinkedHashMap<>(fenced.refused());
        verdict.rejected().forEach((kernel, why) -> refused.put(kernel, new FenceRefusedException(kernel, 0, "is not seen to be fenced: " + why.getMessage())));
        try {
            PtxModule module = PtxParser.parse(verdict.text().getBytes(StandardCharsets.UTF_8));
            return new FencedModule(fenced.mode(), module, fenced.id(), fenced.variables(), fenced.patches(), fenced.functions(), fenced.assertTexts(),
                    fenced.tensorMaps().stream().filter(map -> !verdict.rejected().containsKey(map.kernel())).toList(), refused, fenced.clusters(),
                    fenced.entries(), reports);
        } catch (PtxException e) {
            throw new UnverifiedException(e.line(), e.getMessage());
        }
    }
}
