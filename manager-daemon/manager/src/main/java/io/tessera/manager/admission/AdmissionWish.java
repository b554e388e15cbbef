package io.tessera.manager.admission;

import io.tessera.protocol.DeviceUuid;
import java.util.Optional;

/**
 * What a program that has not started yet will ask for.
 *
 * @param uid            its user
 * @param tenant         its label, as its HELLO will have it
 * @param pid            the process that becomes it
 * @param startTicks     start of that process ({@code /proc/PID/stat}, field 22), so that a recycled pid is another process
 * @param device         its device; empty: it has named none
 * @param guaranteeBytes device memory that never leaves for others; 0: none
 */
public record AdmissionWish(int uid, String tenant, int pid, long startTicks, Optional<DeviceUuid> device, long guaranteeBytes) {
    boolean isOfProcess(AdmissionWish other) {
        return uid == other.uid && pid == other.pid && startTicks == other.startTicks;
    }
}
