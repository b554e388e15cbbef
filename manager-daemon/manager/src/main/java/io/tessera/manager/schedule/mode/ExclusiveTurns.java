package io.tessera.manager.schedule.mode;

import io.tessera.manager.schedule.SchedulerMode;

/** {@link SchedulerMode#ON}: one client at a time, for a quantum. */
public final class ExclusiveTurns extends ConstantMode {
    @Override
    public boolean exclusive() {
        return true;
    }

    @Override
    public String reason(long nowNs) {
        return "set to on: one client at a time";
    }
}
