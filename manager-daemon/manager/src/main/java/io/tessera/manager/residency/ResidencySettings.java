package io.tessera.manager.residency;

/**
 * Settings by an operator for memory that moves. Immutable; sizes in bytes.
 *
 * @param capacityBytes size of a device as clients see it; 0: its memory less what contexts take
 * @param pinnedBytes   pinned host memory that clients may hold together; -1: a share of the machine's
 * @param pageableBytes pageable host memory that they may hold beyond it; -1: a share of the machine's
 * @param idleEvictNs   a client that has not worked for this long leaves the device; 0: never
 * @param moveShare     time spent moving memory, as a share of the turn that it precedes
 */
public record ResidencySettings(long capacityBytes, long pinnedBytes, long pageableBytes, long idleEvictNs,
        double moveShare) {
    /** Value of a size that follows from the machine's memory. */
    public static final long BY_MACHINE = -1;

    /** Checks every value. */
    public ResidencySettings {
        if (capacityBytes < 0 || pinnedBytes < BY_MACHINE || pageableBytes < BY_MACHINE || idleEvictNs < 0) {
            throw new IllegalArgumentException("negative: capacity " + capacityBytes + ", pinned " + pinnedBytes
                    + ", pageable " + pageableBytes + ", idle " + idleEvictNs);
        }
        if (!(moveShare > 0 && moveShare <= 1)) {
            throw new IllegalArgumentException("a share of the turn lies above 0 and up to 1, not " + moveShare);
        }
    }

    /** Returns the defaults: host memory as a share of the machine's, no eviction for idleness, at most 5 % of a turn for moves. */
    public static ResidencySettings defaults() {
        return new ResidencySettings(0, BY_MACHINE, BY_MACHINE, 0, 0.05);
    }

    /** Returns a copy with another capacity; 0: the device's own. */
    public ResidencySettings withCapacityBytes(long bytes) {
        return new ResidencySettings(bytes, pinnedBytes, pageableBytes, idleEvictNs, moveShare);
    }

    /** Returns a copy with another amount of pinned host memory. */
    public ResidencySettings withPinnedBytes(long bytes) {
        return new ResidencySettings(capacityBytes, bytes, pageableBytes, idleEvictNs, moveShare);
    }

    /** Returns a copy with another amount of pageable host memory. */
    public ResidencySettings withPageableBytes(long bytes) {
        return new ResidencySettings(capacityBytes, pinnedBytes, bytes, idleEvictNs, moveShare);
    }

    /** Returns a copy with another idle time; 0: no client is evicted for idleness. */
    public ResidencySettings withIdleEvictNs(long ns) {
        return new ResidencySettings(capacityBytes, pinnedBytes, pageableBytes, ns, moveShare);
    }

    /** Returns a copy with another share of time for moves. */
    public ResidencySettings withMoveShare(double share) {
        return new ResidencySettings(capacityBytes, pinnedBytes, pageableBytes, idleEvictNs, share);
    }
}
