package io.tessera.policy.simulation;

/** Receives for which tenant a simulated device has worked. */
@FunctionalInterface
public interface RunObserver {
    /** Ignores all events. */
    RunObserver NONE = (tenant, fromNs, untilNs) -> {};

    /** The device has worked for a tenant; times never go back. */
    void ran(int tenant, long fromNs, long untilNs);
}
