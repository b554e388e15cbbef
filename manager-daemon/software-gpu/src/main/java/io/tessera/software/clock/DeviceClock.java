package io.tessera.software.clock;

/** Time of the device. Thread-safe. */
@FunctionalInterface
public interface DeviceClock {
    /** Nanoseconds since an arbitrary begin; never goes back. */
    long nowNs();

    /** Returns the host's monotonic clock. */
    static DeviceClock system() {
        return System::nanoTime;
    }
}
