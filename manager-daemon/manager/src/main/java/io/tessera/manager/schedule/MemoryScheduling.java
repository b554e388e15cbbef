package io.tessera.manager.schedule;

import io.tessera.manager.schedule.mode.MemoryVerdict;
import io.tessera.manager.schedule.turn.ClientOutlook;

/** What the planning of memory and the schedule of a device ask of each other. One owner thread. */
public interface MemoryScheduling {
    /** What memory asks of the schedule from now on. */
    void memory(MemoryVerdict verdict, long nowNs);

    /** The client's memory can leave the device: its turns count from when it is back. */
    void movable(long clientId);

    /**
     * Keeps a client off the device, in every mode, or no longer. What runs of it is ended in order. A client that asks
     * for a turn meanwhile waits until it is unparked.
     */
    void parked(long clientId, boolean parked, long nowNs);

    /** How long a contended turn of the client may be idle before it goes back; 0: as where nothing is moved. */
    void idleRelease(long clientId, long ns);

    /** Memory moved; a turn that waits for its memory goes on waiting. */
    void moved(long nowNs);

    /** What the client may do, and when it will run. */
    ClientOutlook outlook(long clientId, long nowNs);
}
