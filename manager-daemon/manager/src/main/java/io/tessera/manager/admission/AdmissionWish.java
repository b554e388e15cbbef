package io.tessera.manager.admission;

import io.tessera.protocol.DeviceUuid;
import java.util.List;
import java.util.Optional;

/**
 * Requirements of a program that has not started yet. Immutable.
 *
 * @param uid            user of the program
 * @param tenant         label, as in its later HELLO
 * @param pid            process that becomes the program
 * @param startTicks     start of that process ({@code /proc/PID/stat}, field 22), so that a recycled pid counts as another process
 * @param device         device that it has named; empty: none
 * @param candidates     devices of which it is to get one; empty: it does not leave the choice to the manager
 * @param guaranteeBytes device memory that never leaves for others; 0: none
 * @param limitBytes     device memory that its tenant may use; 0: no limit
 */
public record AdmissionWish(int uid, String tenant, int pid, long startTicks, Optional<DeviceUuid> device, List<CandidateDevice> candidates,
        long guaranteeBytes, long limitBytes) {
    /** Copies the list. */
    public AdmissionWish {
        candidates = List.copyOf(candidates);
    }

    /** Creates the requirements of a program that does not leave the choice of its device to the manager. */
    public AdmissionWish(int uid, String tenant, int pid, long startTicks, Optional<DeviceUuid> device, long guaranteeBytes) {
        this(uid, tenant, pid, startTicks, device, List.of(), guaranteeBytes, 0);
    }

    boolean isOfProcess(AdmissionWish other) {
        return uid == other.uid && pid == other.pid && startTicks == other.startTicks;
    }

    /** Returns the maximum of device memory that it needs; 0: not stated. */
    long wishedBytes() {
        return Math.max(guaranteeBytes, limitBytes);
    }
}
