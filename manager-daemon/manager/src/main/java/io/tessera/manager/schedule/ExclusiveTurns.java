package io.tessera.manager.schedule;

/** {@link SchedulerMode#ON}: one client at a time, for a quantum. */
final class ExclusiveTurns extends ConstantMode {
    @Override
    public boolean exclusive() {
        return true;
    }

    @Override
    public String reason(long nowNs) {
        return "set to on: one client at a time";
    }
}
