package io.tessera.memory.residency;

import java.util.Objects;

/**
 * The host memory that backs one client's swapped contents, over all devices, in bytes. Immutable.
 *
 * @param clientId            the client
 * @param tenant              its tenant
 * @param pinnedHeldBytes     pinned memory held now
 * @param pinnedTargetBytes   pinned memory that it may hold at present
 * @param pinnedWantedBytes   pinned memory that it could use: its memory that may be swapped
 * @param pageableHeldBytes   pageable backing held now
 * @param pageableTargetBytes pageable backing that it may hold at present
 * @param pageableWantedBytes pageable backing that it could use beyond its pinned memory
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
