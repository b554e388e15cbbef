package io.tessera.policy.simulation;

import io.tessera.policy.PolicyName;
import io.tessera.policy.PolicySettings;

/**
 * Settings of a simulation; times in nanoseconds.
 *
 * @param policy        the rule for the next turn
 * @param constants     the policy's constants
 * @param untilNs       time after which nothing begins; {@link Long#MAX_VALUE}: until all is done
 * @param handoverNs    cost of a turn of another tenant than the last one's
 * @param idleReleaseNs time without work after which a turn ends
 * @param revokeNs      time to stop a batch request for a tenant that has precedence; the request begins again later. Negative: requests are never
 *   stopped
 */
public record SimulationSettings(PolicyName policy, PolicySettings constants, long untilNs, long handoverNs, long idleReleaseNs, long revokeNs) {
    /** Checks times. */
    public SimulationSettings {
        if (untilNs < 1 || handoverNs < 0 || idleReleaseNs < 0) {
            throw new IllegalArgumentException(
                    "simulation until " + untilNs + " ns, hand-over of " + handoverNs + " ns, idle release after " + idleReleaseNs + " ns");
        }
    }

    /** Returns settings for queues of submissions: a change of the tenant costs nothing. */
    public static SimulationSettings submissions(PolicyName policy, long untilNs) {
        return new SimulationSettings(policy, PolicySettings.SUBMISSIONS, untilNs, 0, 0, -1);
    }

    /** Returns settings for turns on the whole device, with their measured cost: 1 ms (the manager's SCHEDULING.md). */
    public static SimulationSettings turns(PolicyName policy, long untilNs) {
        return new SimulationSettings(policy, PolicySettings.TURNS, untilNs, 1_000_000L, 1_000_000L, -1);
    }

    /** Returns a copy with other constants. */
    public SimulationSettings withConstants(PolicySettings settings) {
        return new SimulationSettings(policy, settings, untilNs, handoverNs, idleReleaseNs, revokeNs);
    }

    /** Returns a copy with requests that can be stopped. */
    public SimulationSettings withRevokeNs(long ns) {
        return new SimulationSettings(policy, constants, untilNs, handoverNs, idleReleaseNs, ns);
    }
}
