package io.tessera.policy.simulation;

import io.tessera.policy.PolicyName;
import io.tessera.policy.PolicySettings;

/**
 * How a device is simulated; times in nanoseconds.
 *
 * @param policy the rule for the next turn
 * @param constants     the policy's constants
 * @param untilNs       nothing begins after this time; {@link Long#MAX_VALUE}: until all is done
 * @param handoverNs    what a turn of another tenant than the last one's costs
 * @param idleReleaseNs how long a turn goes on without work before it ends
 * @param revokeNs      a batch request is stopped for a tenant that goes first, and begins again later; how long the stop takes. Negative: never
 */
public record SimulationSettings(PolicyName policy, PolicySettings constants, long untilNs, long handoverNs, long idleReleaseNs, long revokeNs) {
    /** Checks times. */
    public SimulationSettings {
        if (untilNs < 1 || handoverNs < 0 || idleReleaseNs < 0) {
            throw new IllegalArgumentException(
                    "simulation until " + untilNs + " ns, hand-over of " + handoverNs + " ns, idle release after " + idleReleaseNs + " ns");
        }
    }

    /** Queues of submissions: a change of the tenant costs nothing. */
    public static SimulationSettings submissions(PolicyName policy, long untilNs) {
        return new SimulationSettings(policy, PolicySettings.SUBMISSIONS, untilNs, 0, 0, -1);
    }

    /** Turns on the whole device, with what they were measured to cost: 1 ms (the manager's SCHEDULING.md). */
    public static SimulationSettings turns(PolicyName policy, long untilNs) {
        return new SimulationSettings(policy, PolicySettings.TURNS, untilNs, 1_000_000L, 1_000_000L, -1);
    }

    /** The same with other constants. */
    public SimulationSettings withConstants(PolicySettings settings) {
        return new SimulationSettings(policy, settings, untilNs, handoverNs, idleReleaseNs, revokeNs);
    }

    /** The same with requests that can be stopped. */
    public SimulationSettings withRevokeNs(long ns) {
        return new SimulationSettings(policy, constants, untilNs, handoverNs, idleReleaseNs, ns);
    }
}
