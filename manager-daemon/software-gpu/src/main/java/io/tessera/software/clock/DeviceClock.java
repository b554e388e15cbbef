package io.tessera.software.clock;

/** A monotonic clock, in nanoseconds from an arbitrary origin. Implementations are safe for any thread. */
@FunctionalInterface
public interface DeviceClock {
    /** The machine's own clock. */
    DeviceClock SYSTEM = System::nanoTime;

    /** Now, in nanoseconds; never goes back. */
    long nanos();
}
