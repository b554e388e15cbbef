package io.tessera.memory.residency;

import java.util.Objects;

/**
 * The host memory that backs one client's swapped contents, over all devices, in bytes. Immutable.
 *
 * @param clientId of the client
 * @param tenant              whose
 * @param pinnedHeldBytes     pinned now
 * @param pinnedTargetBytes   what it may pin at present
 * @param pinnedWantedBytes   what it could use: its memory that may be swapped
 * @param pageableHeldBytes   pageable backing held now
 * @param pageableTargetBytes what it may hold of that at present
 * @param pageableWantedBytes what it could use beyond its pinned memory
 */
public record HostClient(long clientId, String tenant, long pinnedHeldBytes, long pinnedTargetBytes,
        long pinnedWantedBytes, long pageableHeldBytes, long pageableTargetBytes, long pageableWantedBytes) {
    /** Checks that no size is negative. */
    public HostClient {
        Objects.requireNonNull(tenant, "tenant");
        long smallest = Math.min(Math.min(Math.min(pinnedHeldBytes, pinnedTargetBytes), pinnedWantedBytes),
                Math.min(Math.min(pageableHeldBytes, pageableTargetBytes), pageableWantedBytes));
        if (smallest < 0) {
            throw new IllegalArgumentException("negative size of client " + clientId + ": " + smallest);
        }
    }
}
