package io.tessera.manager.executors;

import io.tessera.manager.conductor.DeviceSharing;
import io.tessera.manager.schedule.SchedulerMode;
import io.tessera.policy.PolicyName;
import java.util.Locale;

/**
 * How tenants of an executor share its device: by which policy they take turns, and whether. Immutable.
 *
 * @param policy the rule for the next turn
 * @param mode   never, always, or where something set needs it
 */
record SpaceSharing(PolicyName policy, SchedulerMode mode) {
    /** The settings of an executor that was told nothing. */
    static final SpaceSharing UNTOLD = new SpaceSharing(PolicyName.ROUND_ROBIN, SchedulerMode.AUTO);

    /** As a device is to be shared; what is not said is as in {@link #UNTOLD}. */
    static SpaceSharing of(DeviceSharing sharing) {
        return new SpaceSharing(sharing.policy().orElse(UNTOLD.policy), sharing.mode().orElse(UNTOLD.mode));
    }

    /** The mode in the words of executors. */
    String use() {
        return mode.name().toLowerCase(Locale.ROOT);
    }
}
