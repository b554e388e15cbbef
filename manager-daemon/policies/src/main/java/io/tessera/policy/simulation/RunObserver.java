package io.tessera.policy.simulation;

/** Hears which tenant a simulated device has worked for. */
@FunctionalInterface
public interface RunObserver {
    /** Hears nothing. */
    RunObserver NONE = (tenant, fromNs, untilNs) -> {};

    /** The device has worked for a tenant; times do not go back. */
    void ran(int tenant, long fromNs, long untilNs);
}
