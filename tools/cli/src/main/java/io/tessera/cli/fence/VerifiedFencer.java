package io.tessera.cli.fence;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.FenceRefusedException;
import io.tessera.guardian.fence.FencedModule;
import io.tessera.guardian.fence.KernelReport;
import io.tessera.guardian.fence.module.Fencer;
import io.tessera.guardian.fence.plan.PlainFunctions;
import io.tessera.guardian.fence.proof.oracle.SyntacticOracle;
import io.tessera.guardian.ptx.PtxModule;
import io.tessera.guardian.ptx.parse.PtxException;
import io.tessera.guardian.ptx.parse.PtxParser;
import io.tessera.guardian.verify.Mode;
import io.tessera.guardian.verify.UnverifiedException;
import io.tessera.guardian.verify.Verdict;
import io.tessera.guardian.verify.module.FenceVerifier;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Fences as an executor does. Functions that the verifier refuses are fenced again without proofs; kernels that it refuses again are left
 * out. The result is the code that an executor would generate. Stateless.
 */
final class VerifiedFencer implements ImageFencer.Fencing {
    private final Function<PlainFunctions, ImageFencer.Fencing> fencers;

    /** Result of one attempt. Without a verdict, no part of it may be loaded, and the refusal gives the reason. */
    private record Try(PlainFunctions plain, FencedModule fenced, Verdict verdict, UnverifiedException refusal) {
        private boolean isAccepted() {
            return verdict != null && verdict.whole();
        }

        private PlainFunctions next() {
            return verdict == null ? PlainFunctions.everything() : plain.with(verdict.unproven());
        }

        private String why() {
            return verdict == null ? refusal.getMessage() : verdict.rejected().values().iterator().next().getMessage();
        }

        /** Returns whether everything accepted in the other attempt is accepted in this one. */
        private boolean isAsGoodAs(Try other) {
            return other.verdict == null || verdict != null && other.verdict.rejected().keySet().containsAll(verdict.rejected().keySet());
        }
    }

    VerifiedFencer(FenceMode mode, int sm) {
        this(plain -> (module, linked) -> (linked ? new Fencer(mode, new SyntacticOracle(), true) : new Fencer(mode)).plainly(plain).on(sm)
                .fence(module));
    }

    /** Creates a fencer that uses other fencers, for tests. */
    VerifiedFencer(Function<PlainFunctions, ImageFencer.Fencing> fencers) {
        this.fencers = fencers;
    }

    @Override
    public FencedModule fence(PtxModule module, boolean linked) throws FenceRefusedException {
        Try last = attempt(module, linked, PlainFunctions.none());
        if (last.isAccepted()) {
            return last.fenced;
        }
        String why = last.why();
        while (!last.isAccepted() && !last.plain.all()) {
            Try next = attempt(module, linked, last.next());
            if (next.plain.all() && last.isAsGoodAs(next)) {
                break; // keep the functions with proofs if nothing is gained without them
            }
            last = next;
        }
        try {
            if (last.verdict == null) {
                throw last.refusal;
            }
            return left(last.fenced, last.verdict, last.plain, "fenced without proofs: " + why);
        } catch (UnverifiedException e) {
            throw new FenceRefusedException("the module", e.line(), "is not seen to be fenced: " + e.getMessage());
        }
    }

    private Try attempt(PtxModule module, boolean linked, PlainFunctions plain) throws FenceRefusedException {
        FencedModule fenced = fencers.apply(plain).fence(module, linked);
        try {
            return new Try(plain, fenced, verdict(fenced, linked), null);
        } catch (UnverifiedException e) {
            return new Try(plain, fenced, null, e);
        }
    }

    private static Verdict verdict(FencedModule fenced, boolean linked) throws UnverifiedException {
        return FenceVerifier.verify(fenced.ptx().getBytes(StandardCharsets.UTF_8), Mode.valueOf(fenced.mode().name()), linked);
    }

    /** Returns the accepted part of a module; the note is for the functions without proofs. */
    private static FencedModule left(FencedModule fenced, Verdict verdict, PlainFunctions plain, String note) throws UnverifiedException {
        List<KernelReport> reports = new ArrayList<>();
        for (KernelReport report : fenced.reports()) {
            if (!verdict.rejected().containsKey(report.name())) {
                reports.add(plain.contains(report.name()) ? report.noted(note) : report);
            }
        }
        Map<String, FenceRefusedException> refused = new LinkedHashMap<>(fenced.refused());
        verdict.rejected()
                .forEach((kernel, why) -> refused.put(kernel, new FenceRefusedException(kernel, 0, "is not seen to be fenced: " + why.getMessage())));
        try {
            PtxModule module = PtxParser.parse(verdict.text().getBytes(StandardCharsets.UTF_8));
            return new FencedModule(fenced.mode(), module, fenced.id(), fenced.variables(), fenced.patches(), fenced.functions(),
                    fenced.assertTexts(),
                    fenced.tensorMaps().stream().filter(map -> !verdict.rejected().containsKey(map.kernel())).toList(), refused, fenced.clusters(),
                    fenced.waits(),
                    reports);
        } catch (PtxException e) {
            throw new UnverifiedException(e.line(), e.getMessage());
        }
    }
}
