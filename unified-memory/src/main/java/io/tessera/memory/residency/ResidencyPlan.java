package io.tessera.memory.residency;

import java.util.Map;
import java.util.Set;

/**
 * Targets of {@link ResidencyPlanner} to be written now. Immutable.
 *
 * @param targets  by client, every client's target from now on. The targets may be written in any order: the budget is kept whatever clients do
 *   meanwhile within the budget rule
 * @param goals    by client, the final targets, after other clients have given up their memory
 * @param mustStop clients that have to be told CLOSED, because they run and contents of theirs have to leave
 * @param refused  by client, a sentence that says why it can never have what it needs or asks for beside what is fixed and guaranteed to others
 * @param fits     whether the needs of running and waiting clients can be resident at once
 * @param reason   what happens and why, in one sentence, for the status
 */
public record ResidencyPlan(Map<Long, Long> targets, Map<Long, Long> goals, Set<Long> mustStop, Map<Long, String> refused,
        boolean fits, String reason) {

    /** Copies all collections. */
    public ResidencyPlan {
        targets = Map.copyOf(targets);
        goals = Map.copyOf(goals);
        mustStop = Set.copyOf(mustStop);
        refused = Map.copyOf(refused);
    }

    /** Returns whether these targets are final; otherwise clients have to give memory up first, and ring. */
    public boolean settled() {
        return targets.equals(goals);
    }
}
