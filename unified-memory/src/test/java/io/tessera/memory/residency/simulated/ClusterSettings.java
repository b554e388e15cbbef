package io.tessera.memory.residency.simulated;

import io.tessera.memory.residency.MoveRates;

/**
 * Settings of a simulation.
 *
 * @param capacityBytes capacity of the device
 * @param fixedBytes    part of it in use by programs whose memory cannot be moved
 * @param chunkBytes    unit of moves
 * @param rates         rates of the bus
 * @param quantumNs     quantum of an operator; 0: chosen
 * @param activeShare clients that are active together run freely if their memory fits, even if others are there; otherwise they take turns
 *         unless the memory of all fits
 * @param failureShare  share of copies that fail
 * @param seed          seed of delays and failures
 */
public record ClusterSettings(long capacityBytes, long fixedBytes, long chunkBytes, MoveRates rates, long quantumNs,
        boolean activeShare, double failureShare, long seed) {
    static final long MS = 1_000_000L;
    static final long SECOND = 1_000_000_000L;
    static final long MIB = 1L << 20;
    static final long GIB = 1L << 30;

    /** Returns an H200 treated as a device of 16 GiB, with moves of 64 MiB at a time. */
    static ClusterSettings h200(long seed) {
        return new ClusterSettings(16 * GIB, 0, 64 * MIB, MoveRates.pinned(), 0, true, 0, seed);
    }

    ClusterSettings withQuantumNs(long ns) {
        return new ClusterSettings(capacityBytes, fixedBytes, chunkBytes, rates, ns, activeShare, failureShare, seed);
    }

    ClusterSettings withActiveShare(boolean share) {
        return new ClusterSettings(capacityBytes, fixedBytes, chunkBytes, rates, quantumNs, share, failureShare, seed);
    }
}
