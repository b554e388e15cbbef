package io.tessera.clock;

/** A clock in nanoseconds; its owner documents which one (monotonic, or since the epoch). Thread-safe. */
@FunctionalInterface
public interface NanoClock {
    /** Returns the present time, in nanoseconds. */
    long nanoTime();
}
