package io.tessera.memory.residency.simulated;

import io.tessera.memory.residency.MoveRates;

/** A full-duplex bus: copies in one direction run in sequence, and the two directions do not affect each other. */
final class SimulatedBus {
    private final EventQueue queue;
    private final MoveRates rates;
    private long inFreeNs;
    private long outFreeNs;
    private long inBytes;
    private long outBytes;

    SimulatedBus(EventQueue queue, MoveRates rates) {
        this.queue = queue;
        this.rates = rates;
    }

    void copyIn(long bytes, Runnable done) {
        inFreeNs = Math.max(queue.nowNs(), inFreeNs) + (long) (1e9 * bytes / rates.inBytesPerSecond());
        inBytes += bytes;
        queue.after(inFreeNs - queue.nowNs(), done);
    }

    void copyOut(long bytes, Runnable done) {
        outFreeNs = Math.max(queue.nowNs(), outFreeNs) + (long) (1e9 * bytes / rates.outBytesPerSecond());
        outBytes += bytes;
        queue.after(outFreeNs - queue.nowNs(), done);
    }

    long inBytes() {
        return inBytes;
    }

    long outBytes() {
        return outBytes;
    }
}
