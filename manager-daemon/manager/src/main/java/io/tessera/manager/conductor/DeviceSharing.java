package io.tessera.manager.conductor;

import io.tessera.manager.schedule.DeviceScheduling;
import io.tessera.manager.schedule.SchedulerMode;
import io.tessera.policy.PolicyName;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Settings of how a device is shared in time, as far as they were given. Immutable.
 *
 * @param mode      whether clients take turns
 * @param policy the rule for the next turn
 * @param quantumNs length of a turn
 */
public record DeviceSharing(Optional<SchedulerMode> mode, Optional<PolicyName> policy, OptionalLong quantumNs) {
    /** Settings that leave everything open. */
    public static final DeviceSharing UNSAID = new DeviceSharing(Optional.empty(), Optional.empty(), OptionalLong.empty());

    /** Returns settings with a mode alone. */
    public static DeviceSharing of(SchedulerMode mode) {
        return new DeviceSharing(Optional.of(mode), Optional.empty(), OptionalLong.empty());
    }

    /** Returns settings with a policy alone. */
    public static DeviceSharing of(PolicyName policy) {
        return new DeviceSharing(Optional.empty(), Optional.of(policy), OptionalLong.empty());
    }

    /** Returns settings with a quantum alone. */
    public static DeviceSharing ofQuantum(long ns) {
        return new DeviceSharing(Optional.empty(), Optional.empty(), OptionalLong.of(ns));
    }

    /** Returns these settings, overridden by later ones. */
    DeviceSharing with(DeviceSharing later) {
        return new DeviceSharing(later.mode.or(() -> mode), later.policy.or(() -> policy), later.quantumNs.isPresent() ? later.quantumNs : quantumNs);
    }

    /** Returns those of these settings that the other leaves open. */
    DeviceSharing without(DeviceSharing other) {
        return new DeviceSharing(mode.filter(one -> other.mode.isEmpty()), policy.filter(one -> other.policy.isEmpty()),
                other.quantumNs.isPresent() ? OptionalLong.empty() : quantumNs);
    }

    /** Returns those of these settings that differ from former ones. */
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
