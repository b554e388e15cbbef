package io.tessera.manager.conductor;

import io.tessera.manager.schedule.DeviceScheduling;
import io.tessera.manager.schedule.SchedulerMode;
import io.tessera.policy.PolicyName;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * How a device is shared in time, as far as somebody has said so. Immutable.
 *
 * @param mode      whether clients take turns
 * @param policy the rule for the next turn
 * @param quantumNs length of a turn
 */
public record DeviceSharing(Optional<SchedulerMode> mode, Optional<PolicyName> policy, OptionalLong quantumNs) {
    /** Nobody has said anything. */
    public static final DeviceSharing UNSAID = new DeviceSharing(Optional.empty(), Optional.empty(), OptionalLong.empty());

    /** A mode alone. */
    public static DeviceSharing of(SchedulerMode mode) {
        return new DeviceSharing(Optional.of(mode), Optional.empty(), OptionalLong.empty());
    }

    /** A policy alone. */
    public static DeviceSharing of(PolicyName policy) {
        return new DeviceSharing(Optional.empty(), Optional.of(policy), OptionalLong.empty());
    }

    /** A quantum alone. */
    public static DeviceSharing ofQuantum(long ns) {
        return new DeviceSharing(Optional.empty(), Optional.empty(), OptionalLong.of(ns));
    }

    /** The same, without the later settings. */
    DeviceSharing with(DeviceSharing later) {
        return new DeviceSharing(later.mode.or(() -> mode), later.policy.or(() -> policy), later.quantumNs.isPresent() ? later.quantumNs : quantumNs);
    }

    /** What of it the other leaves open. */
    DeviceSharing without(DeviceSharing other) {
        return new DeviceSharing(mode.filter(one -> other.mode.isEmpty()), policy.filter(one -> other.policy.isEmpty()),
                other.quantumNs.isPresent() ? OptionalLong.empty() : quantumNs);
    }

    /** What of it was not said before. */
    public DeviceSharing newerThan(DeviceSharing before) {
        return new DeviceSharing(mode.filter(one -> !mode.equals(before.mode)), policy.filter(one -> !policy.equals(before.policy)),
                quantumNs.equals(before.quantumNs) ? OptionalLong.empty() : quantumNs);
    }

    void applyTo(DeviceScheduling scheduling, long nowNs) {
        mode.ifPresent(one -> scheduling.mode(one, nowNs));
        policy.ifPresent(one -> scheduling.policy(one, nowNs));
        quantumNs.ifPresent(ns -> scheduling.quantumNs(ns, nowNs));
    }
}
