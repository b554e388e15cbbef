package io.tessera.manager.admission;

import io.tessera.manager.placement.DeviceUse;
import io.tessera.protocol.DeviceUuid;
import java.util.Collection;
import java.util.Optional;

/** The present clients, devices and processes, as far as the queue needs them. Called by the owner thread. */
public interface AdmissionRoom {
    /**
     * Device memory that can be guaranteed.
     *
     * @param device        the device
     * @param capacityBytes memory that could be guaranteed if no client used the device
     * @param freeBytes     memory that can be guaranteed beside what is guaranteed already or cannot leave
     */
    record Guarantees(DeviceUuid device, long capacityBytes, long freeBytes) {
    }

    /**
     * The owner of a registered client.
     *
     * @param uid    user of the client
     * @param tenant label of the client
     */
    record Owner(int uid, String tenant) {
    }

    /** Returns the owner of each registered client. */
    Collection<Owner> clients();

    /** Returns the guarantees of the named device or, without a name, of the only one; empty: they are unknown, because no client uses the device. */
    Optional<Guarantees> guarantees(Optional<DeviceUuid> device, long nowNs);

    /** Returns whether what is guaranteed to a client is included in {@link #guarantees} already. */
    boolean countsGuaranteeOf(long clientId);

    /** Returns the use of a device by the clients on it. */
    DeviceUse use(CandidateDevice device, long nowNs);

    /** Returns whether a client is on a device already. */
    boolean hasDevice(long clientId);

    /** Returns whether a client is still registered. */
    boolean isRegistered(long clientId);

    /** Returns the start of a process as in {@link AdmissionWish}; 0: it does not exist, or is hidden. */
    long startTicks(int pid);
}
