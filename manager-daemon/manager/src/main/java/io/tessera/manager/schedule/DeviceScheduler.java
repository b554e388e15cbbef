package io.tessera.manager.schedule;

import java.util.Objects;

/**
 * The scheduler of one device: the turn lock, driven by the mode that was set; starts in {@link SchedulerMode#AUTO}.
 * Not thread-safe: one owner thread.
 */
public final class DeviceScheduler implements DeviceScheduling {
    private final ScheduleSettings settings;
    private final TurnPort port;

    /**
     * Makes the scheduler of a device that nobody uses yet.
     *
     * @param settings quantum, grace, capacity and the constants of {@code auto}
     * @param port     where orders go and loads come from; the caller owns it
     * @param nowNs    the caller's monotonic clock
     */
    public DeviceScheduler(ScheduleSettings settings, TurnPort port, long nowNs) {
        this.settings = Objects.requireNonNull(settings, "settings");
        this.port = Objects.requireNonNull(port, "port");
    }

    private UnsupportedOperationException unwritten() {
        return new UnsupportedOperationException("no policy behind " + settings + " and " + port + " yet");
    }

    @Override
    public void joined(long clientId, long nowNs) {
        throw unwritten();
    }

    @Override
    public void left(long clientId, long nowNs) {
        throw unwritten();
    }

    @Override
    public void wants(long clientId, long sinceNs, long nowNs) {
        throw unwritten();
    }

    @Override
    public void acknowledged(long clientId, long epoch, AckState state, long nowNs) {
        throw unwritten();
    }

    @Override
    public void mode(SchedulerMode mode, long nowNs) {
        throw unwritten();
    }

    @Override
    public void quantumNs(long quantumNs, long nowNs) {
        throw unwritten();
    }

    @Override
    public int doWork(long nowNs) {
        throw unwritten();
    }

    @Override
    public long nextDeadlineNs() {
        throw unwritten();
    }

    @Override
    public DeviceTurns snapshot(long nowNs) {
        throw unwritten();
    }
}
