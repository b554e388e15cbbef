package io.tessera.fuzz.run;

import io.tessera.fuzz.generate.GeneratedKernel;
import io.tessera.fuzz.generate.KernelGenerator;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Removes steps from a failing kernel as long as it fails in the same way: halves first, then single steps. Stateless but for its trial.
 */
final class Shrinker {
    private static final int MOST_TRIES = 150;
    /** Time limit, because a kernel that does not end takes its full time at every attempt. */
    private static final long MOST_NS = 60_000_000_000L;

    private final FencingTrial trial;
    private int tries;
    private long beganNs;

    Shrinker(FencingTrial trial) {
        this.trial = trial;
    }

    /** Returns the smallest kernel found that fails in the same way. */
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
            return null; // a removed step was needed
        }
        boolean same = trial.findings(candidate, (kernel, mode, fenced, text) -> {}).stream()
                .anyMatch(other -> other.kind() == finding.kind() && other.where().equals(finding.where()));
        return same ? candidate : null;
    }
}
