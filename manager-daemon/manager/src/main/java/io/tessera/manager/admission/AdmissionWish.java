package io.tessera.manager.admission;

import io.tessera.protocol.DeviceUuid;
import java.util.List;
import java.util.Optional;

/**
 * What a program that has not started yet will ask for. Immutable.
 *
 * @param uid            its user
 * @param tenant         its label, as its HELLO will have it
 * @param pid            the process that becomes it
 * @param startTicks     start of that process ({@code /proc/PID/stat}, field 22), so that a recycled pid is another process
 * @param device         its device; empty: it has named none
 * @param candidates     the devices of which it is to get one; empty: it leaves no device to the manager
 * @param guaranteeBytes device memory that never leaves for others; 0: none
 * @param limitBytes     device memory that its tenant may use; 0: no limit
 */
public record AdmissionWish(int uid, String tenant, int pid, long startTicks, Optional<DeviceUuid> device, List<CandidateDevice> candidates,
        long guaranteeBytes, long limitBytes) {
    /** Copies the list. */
    public AdmissionWish {
        candidates = List.copyOf(candidates);
    }

    /** For a program that leaves no device to the manager. */
    public AdmissionWish(int uid, String tenant, int pid, long startTicks, Optional<DeviceUuid> device, long guaranteeBytes) {
        this(uid, tenant, pid, startTicks, device, List.of(), guaranteeBytes, 0);
    }

    boolean isOfProcess(AdmissionWish other) {
        return uid == other.uid && pid == other.pid && startTicks == other.startTicks;
    }

    /** Device memory that it needs at most; 0: it does not say. */
    long wishedBytes() {
        return Math.max(guaranteeBytes, limitBytes);
    }
}
