package io.tessera.memory.residency;

import java.util.Map;
import java.util.Set;

/**
 * What {@link ResidencyPlanner} wants written now. Immutable.
 *
 * @param targets  by client, every client's target from now on. In whatever order they are written, and whatever
 *                 clients do meanwhile within the budget rule, the budget is kept
 * @param goals    by client, where the targets end up when those who have to give memory up have done so
 * @param mustStop clients that have to be told CLOSED, because contents of theirs have to leave and they run
 * @param refused  by client, in a sentence why it can never have what it needs or asks for beside what is fixed and
 *                 guaranteed to others
 * @param fits     what running clients and those that await a turn need can be resident at once
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

    /** Whether nothing is left to be written later; if not, clients have to give memory up first, and ring. */
    public boolean settled() {
        return targets.equals(goals);
    }
}
