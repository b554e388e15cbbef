package io.tessera.manager.schedule.mode;

import io.tessera.manager.schedule.SchedulerMode;

/** All clients run and the hardware switches between contexts: {@link SchedulerMode#OFF}, or the only safe choice. */
public final class FreeRunning extends ConstantMode {
    public static final String SET_TO_OFF = "set to off: everybody runs at once";
    public static final String SPANS_DEVICES = "running freely: a tenant works on several GPUs at once, and turns on each"
            + " alone could leave its processes waiting for one another";

    private final String why;

    /** @param why why clients run freely, as a status shows it */
    public FreeRunning(String why) {
        this.why = why;
    }

    @Override
    public boolean exclusive() {
        return false;
    }

    @Override
    public String reason(long nowNs) {
        return why;
    }
}
