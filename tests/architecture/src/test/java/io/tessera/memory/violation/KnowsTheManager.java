package io.tessera.memory.violation;

import io.tessera.manager.schedule.SchedulerMode;

/** The memory model may not know its users. */
public final class KnowsTheManager {
    /** Uses it. */
    public SchedulerMode mode() {
        return SchedulerMode.AUTO;
    }
}
