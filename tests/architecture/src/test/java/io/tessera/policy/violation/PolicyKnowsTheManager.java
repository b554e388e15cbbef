package io.tessera.policy.violation;

import io.tessera.manager.schedule.SchedulerMode;

/** Policies may not know their users. */
public final class PolicyKnowsTheManager {
    /** Uses it. */
    public SchedulerMode mode() {
        return SchedulerMode.AUTO;
    }
}
