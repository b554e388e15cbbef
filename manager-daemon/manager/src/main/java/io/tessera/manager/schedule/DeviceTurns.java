package io.tessera.manager.schedule;

import io.tessera.policy.PolicyName;
import java.util.OptionalLong;

/**
 * The state of a device's turns.
 *
 * @param mode             the mode that was set
 * @param exclusive        whether clients take turns now
 * @param reason           reason, in one sentence
 * @param policy           the rule for the next turn
 * @param quantumNs        length of a turn
 * @param holder           the client that is GRANTED
 * @param holderSinceNs    time since which it is, on the scheduler's clock
 * @param handovers        number of hand-overs so far
 * @param handoverMedianNs median time from the former holder's answer to the grant's answer, over the last 256
 */
public record DeviceTurns(SchedulerMode mode, boolean exclusive, String reason, PolicyName policy, long quantumNs, OptionalLong holder,
        long holderSinceNs, long handovers, long handoverMedianNs) {
}
