package io.tessera.software.clock;

/** Time of the device. Thread-safe. */
@FunctionalInterface
public interface DeviceClock {
    /** Returns nanoseconds since an arbitrary start; never decreases. */
    long nowNs();

    /** Returns the host's monotonic clock. */
    static DeviceClock system() {
        return System::nanoTime;
    }
}
