package io.tessera.manager.admission;

import io.tessera.manager.placement.DeviceUse;
import io.tessera.protocol.DeviceUuid;
import java.util.Collection;
import java.util.Optional;

/** What is there now, as far as the queue has to know it. Called by the owner thread. */
public interface AdmissionRoom {
    /**
     * Device memory that can be guaranteed.
     *
     * @param device        which device
     * @param capacityBytes what could be guaranteed if nobody were there
     * @param freeBytes     what can be guaranteed beside what is guaranteed already or cannot leave
     */
    record Guarantees(DeviceUuid device, long capacityBytes, long freeBytes) {
    }

    /**
     * The owner of a registered client.
     *
     * @param uid    its user
     * @param tenant its label
     */
    record Owner(int uid, String tenant) {
    }

    /** The owner of each registered client. */
    Collection<Owner> clients();

    /** The guarantees of a device, or, where none is named, of the only one; empty: nothing is known of it, since nobody uses it. */
    Optional<Guarantees> guarantees(Optional<DeviceUuid> device, long nowNs);

    /** Whether what is guaranteed to a client is counted in {@link #guarantees} already. */
    boolean countsGuaranteeOf(long clientId);

    /** How much a device is used by clients that are on it. */
    DeviceUse use(CandidateDevice device, long nowNs);

    /** Whether a client is on a device already. */
    boolean hasDevice(long clientId);

    /** Whether a client is still there. */
    boolean isRegistered(long clientId);

    /** Start of a process as in {@link AdmissionWish}; 0: it is not there, or hidden. */
    long startTicks(int pid);
}
