package io.tessera.manager.memory;

import io.tessera.manager.residency.Checkpoints;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/** Checkpoints that end when the test chooses. */
public final class ManualCheckpoints implements Checkpoints {
    /** Actions that were begun: "SUSPEND 42". */
    public final List<String> begun = new ArrayList<>();
    /** Processes that are remembered now. */
    public List<Integer> remembered = List.of();
    private final List<Outcome> outcomes = new ArrayList<>();

    /** Ends the oldest action. */
    public void end(Optional<String> failure, long nowNs) {
        outcomes.removeFirst().ended(failure, nowNs);
    }

    @Override
    public void begin(Action action, int pid, Outcome outcome) {
        begun.add(action + " " + pid);
        outcomes.add(outcome);
    }

    @Override
    public void remember(Collection<Integer> pids) {
        remembered = List.copyOf(pids);
    }

    @Override
    public List<Integer> remembered() {
        return remembered;
    }

    @Override
    public void restoreAll(Collection<Integer> pids) {
        pids.forEach(pid -> begun.add("restored at the end " + pid));
    }
}
