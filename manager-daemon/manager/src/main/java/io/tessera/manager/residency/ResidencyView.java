package io.tessera.manager.residency;

import io.tessera.manager.conductor.ManagedDevice;
import java.util.Collection;
import java.util.function.Function;

/** A device's memory, as the classes that judge it need it. One owner thread. */
interface ResidencyView {
    /** Returns the device itself. */
    ManagedDevice device();

    /** Returns the clients on it. */
    Collection<ClientDeviceMemory> members();

    /** Returns when memory last moved, or a client last came or went. */
    long settledNs();

    /** Returns what executors hold of the device, as last reported: it cannot leave. */
    long executorBytes();

    /** Returns what clients and executors may have together: the capacity less what the driver may need. */
    long plannedBytes();

    /**
     * Records that the client's need cannot be met: its calls fail instead of waiting.
     *
     * @param why     the cause, in which other clients have the names that are asked for
     * @param sinceNs time since which no client can give the memory up; {@link ClientDeviceMemory#NEVER}: the device does not have it
     */
    void fallsShort(ClientDeviceMemory member, Function<ClientNames, String> why, long sinceNs, long nowNs);
}
