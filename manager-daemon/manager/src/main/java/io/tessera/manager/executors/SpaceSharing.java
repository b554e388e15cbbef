package io.tessera.manager.executors;

import io.tessera.manager.conductor.DeviceSharing;
import io.tessera.manager.schedule.SchedulerMode;
import io.tessera.policy.PolicyName;
import java.util.Locale;

/**
 * How tenants of an executor share its device: the policy of turns, and the mode. Immutable.
 *
 * @param policy the rule for the next turn
 * @param mode   whether they take turns: never, always, or if a setting needs it
 */
record SpaceSharing(PolicyName policy, SchedulerMode mode) {
    /** The settings of an executor that was told nothing. */
    static final SpaceSharing UNTOLD = new SpaceSharing(PolicyName.ROUND_ROBIN, SchedulerMode.AUTO);

    /** Returns the settings of a device; what they leave open is as in {@link #UNTOLD}. */
    static SpaceSharing of(DeviceSharing sharing) {
        return new SpaceSharing(sharing.policy().orElse(UNTOLD.policy), sharing.mode().orElse(UNTOLD.mode));
    }

    /** Returns the mode in the executors' terms. */
    String use() {
        return mode.name().toLowerCase(Locale.ROOT);
    }
}
