package io.tessera.manager.schedule;

/** Everybody runs, the hardware switches between contexts: {@link SchedulerMode#OFF}, or the only safe choice. */
final class FreeRunning extends ConstantMode {
    static final String SET_TO_OFF = "set to off: everybody runs at once";
    static final String SPANS_DEVICES = "running freely: a tenant works on several GPUs at once, and turns on each"
            + " alone could leave its processes waiting for one another";

    private final String why;

    FreeRunning(String why) {
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
