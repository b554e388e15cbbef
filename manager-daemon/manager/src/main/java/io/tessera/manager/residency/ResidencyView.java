package io.tessera.manager.residency;

import io.tessera.manager.conductor.ManagedDevice;
import java.util.Collection;

/** A device's memory as its judges see it. One owner thread. */
interface ResidencyView {
    /** The device itself. */
    ManagedDevice device();

    /** The clients on it. */
    Collection<ClientDeviceMemory> members();

    /** When somebody's memory last moved, or somebody came or went. */
    long settledNs();

    /** What executors hold of the device, as they last said: it cannot leave. */
    long executorBytes();

    /** What everybody may have together, executors included: the capacity less what the driver may need. */
    long plannedBytes();

    /**
     * The client's need cannot be met: its calls fail instead of waiting.
     *
     * @param sinceNs since when nobody can give it up; {@link ClientDeviceMemory#NEVER}: the device does not have it
     */
    void fallsShort(ClientDeviceMemory member, String why, long sinceNs, long nowNs);
}
