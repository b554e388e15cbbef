package io.tessera.manager.memory;

import io.tessera.clock.Clocks;

/** A clock that stands still until it is moved. */
public final class ManualClock {
    private long nowNs = 1_000_000_000_000L;

    /** Both clocks of the manager; realtime runs beside the monotonic one from 2026 on. */
    public Clocks clocks() {
        return new Clocks(() -> nowNs, () -> 1_767_225_600_000_000_000L + nowNs);
    }

    /** The time. */
    public long nowNs() {
        return nowNs;
    }

    /** Moves the time on by milliseconds. */
    public void advanceMs(long ms) {
        nowNs += ms * 1_000_000L;
    }
}
