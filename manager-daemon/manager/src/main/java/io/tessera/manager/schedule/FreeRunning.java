package io.tessera.manager.schedule;

/** {@link SchedulerMode#OFF}: everybody runs, the hardware switches between contexts. */
final class FreeRunning extends ConstantMode {
    @Override
    public boolean exclusive() {
        return false;
    }

    @Override
    public String reason(long nowNs) {
        return "set to off: everybody runs at once";
    }
}
