package io.tessera.clock;

/** A clock in nanoseconds. Which one it is (monotonic, since the epoch) its owner says. Thread-safe. */
@FunctionalInterface
public interface NanoClock {
    /** The time now, in nanoseconds. */
    long nanoTime();
}
