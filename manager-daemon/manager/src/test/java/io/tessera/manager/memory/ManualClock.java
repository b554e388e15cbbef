package io.tessera.manager.memory;

import io.tessera.clock.Clocks;

/** A clock that stands still until the test moves it. */
public final class ManualClock {
    private long nowNs = 1_000_000_000_000L;

    /** Returns both clocks of the manager; realtime starts in 2026 and advances with the monotonic one. */
    public Clocks clocks() {
        return new Clocks(() -> nowNs, () -> 1_767_225_600_000_000_000L + nowNs);
    }

    /** Returns the time. */
    public long nowNs() {
        return nowNs;
    }

    /** Advances the time by milliseconds. */
    public void advanceMs(long ms) {
        nowNs += ms * 1_000_000L;
    }
}
