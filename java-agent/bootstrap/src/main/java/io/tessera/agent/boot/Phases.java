package io.tessera.agent.boot;

import io.tessera.agent.clock.Ticks;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;

/** Phases that the application names: what the process is doing, one at a time. Any thread. */
public final class Phases {
    private static final int MOST = 256;
    private static final ConcurrentHashMap<String, Phase> ALL = new ConcurrentHashMap<>();
    private static Phase current;

    private Phases() {
    }

    /**
     * Ends the current phase and begins another.
     *
     * @param label its name; null: none
     */
    public static synchronized void enter(String label) {
        long now = Ticks.nanos();
        long launches = Recorder.launches();
        if (current != null) {
            current.nanos += now - current.began;
            current.launches += launches - current.launchesBefore;
            current = null;
        }
        if (label == null) {
            return;
        }
        if (!ALL.containsKey(label) && ALL.size() >= MOST) {
            AgentCounters.drop();
            return;
        }
        current = ALL.computeIfAbsent(label, Phase::new);
        current.entered++;
        current.began = now;
        current.launchesBefore = launches;
    }

    /**
     * Returns the current phase.
     *
     * @return its label, or null
     */
    public static synchronized String label() {
        return current == null ? null : current.label;
    }

    static synchronized List<PhaseRow> rows() {
        List<PhaseRow> rows = new ArrayList<>();
        long now = Ticks.nanos();
        for (Phase phase : ALL.values()) {
            boolean open = phase == current;
            long nanos = phase.nanos + (open ? now - phase.began : 0);
            long launches = phase.launches + (open ? Recorder.launches() - phase.launchesBefore : 0);
            rows.add(new PhaseRow(phase.label, phase.entered, nanos / 1_000_000, launches));
        }
        rows.sort(Comparator.comparingLong(PhaseRow::getTotalMillis).reversed());
        return rows;
    }

    /** Sums of one label; guarded by the class. */
    private static final class Phase {
        final String label;
        long entered;
        long nanos;
        long launches;
        long began;
        long launchesBefore;

        Phase(String label) {
            this.label = label;
        }
    }
}
