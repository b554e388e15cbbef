package io.tessera.clock;

import java.time.Instant;

/**
 * The two clocks of the manager. They are always passed in; tests advance them by hand.
 *
 * @param monotonic CLOCK_MONOTONIC, which clients see too: heartbeats, waits, deadlines
 * @param realtime  CLOCK_REALTIME since 1970: times of starts and errors, for people
 */
public record Clocks(NanoClock monotonic, NanoClock realtime) {
    /**
     * Returns the clocks of this host. {@link System#nanoTime()} is CLOCK_MONOTONIC on HotSpot for Linux. The manager depends on that because clients
     * compare it with theirs; {@code LinuxTest} checks it against {@code clock_gettime}.
     */
    public static Clocks system() {
        return new Clocks(System::nanoTime, () -> {
            Instant now = Instant.now();
            return now.getEpochSecond() * 1_000_000_000L + now.getNano();
        });
    }
}
