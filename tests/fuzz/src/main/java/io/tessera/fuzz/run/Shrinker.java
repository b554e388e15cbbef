package io.tessera.fuzz.run;

import io.tessera.fuzz.generate.GeneratedKernel;
import io.tessera.fuzz.generate.KernelGenerator;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Leaves steps of a failing kernel out as long as it fails in the same way: halves first, then single ones. Stateless but for its trial. */
final class Shrinker {
    private static final int MOST_TRIES = 150;
    /** A kernel that does not end takes its time at every try. */
    private static final long MOST_NS = 60_000_000_000L;

    private final FencingTrial trial;
    private int tries;
    private long beganNs;

    Shrinker(FencingTrial trial) {
        this.trial = trial;
    }

    /** The smallest kernel that was found to fail so. */
    GeneratedKernel shrink(GeneratedKernel failing, KernelFinding finding) {
        beganNs = System.nanoTime();
        Set<Long> without = new HashSet<>();
        GeneratedKernel best = failing;
        int piece = Math.max(1, best.steps().size() / 2);
        while (piece >= 1 && goesOn()) {
            boolean smaller = false;
            List<Long> steps = new ArrayList<>(best.steps());
            for (int from = 0; from < steps.size() && goesOn(); from += piece) {
                Set<Long> more = new HashSet<>(without);
                more.addAll(steps.subList(from, Math.min(steps.size(), from + piece)));
                GeneratedKernel candidate = more.size() == without.size() ? null : tried(failing.seed(), more, finding);
                if (candidate != null) {
                    without = more;
                    best = candidate;
                    smaller = true;
                }
            }
            piece = smaller ? piece : piece / 2;
        }
        return best;
    }

    private boolean goesOn() {
        return tries < MOST_TRIES && System.nanoTime() - beganNs < MOST_NS;
    }

    private GeneratedKernel tried(long seed, Set<Long> without, KernelFinding finding) {
        tries++;
        GeneratedKernel candidate;
        try {
            candidate = KernelGenerator.of(seed, without);
        } catch (IllegalStateException e) {
            return null; // what it left out was needed
        }
        boolean same = trial.findings(candidate, (kernel, mode, fenced, text) -> {}).stream()
                .anyMatch(other -> other.kind() == finding.kind() && other.where().equals(finding.where()));
        return same ? candidate : null;
    }
}
