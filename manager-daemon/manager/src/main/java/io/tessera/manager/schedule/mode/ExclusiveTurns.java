package io.tessera.manager.schedule.mode;

import io.tessera.manager.schedule.SchedulerMode;

/** One client at a time: {@link SchedulerMode#ON}, or the only way to give tenants their parts. */
public final class ExclusiveTurns extends ConstantMode {
    public static final String SET_TO_ON = "set to on: one client at a time";
    public static final String SHARES = "turns: tenants have different shares, or caps, which hold in turns alone";

    private final String why;

    /** @param why why clients take turns, as a status shows it */
    public ExclusiveTurns(String why) {
        this.why = why;
    }

    @Override
    public boolean exclusive() {
        return true;
    }

    @Override
    public String reason(long nowNs) {
        return why;
    }
}
