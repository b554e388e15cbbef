package io.tessera.manager.schedule;

import io.tessera.manager.schedule.mode.MemoryVerdict;
import io.tessera.manager.schedule.turn.ClientOutlook;

/** Requests between the memory planner and the schedule of a device. One owner thread. */
public interface MemoryScheduling {
    /** Sets what memory requires of the schedule from now on. */
    void memory(MemoryVerdict verdict, long nowNs);

    /** Declares that the client's memory can leave the device: its turns count from when the memory is back. */
    void movable(long clientId);

    /**
     * Keeps a client off the device in every mode, or lets it back. Its running work is ended in order. A client that asks for a turn meanwhile waits
     * until it is unparked.
     */
    void parked(long clientId, boolean parked, long nowNs);

    /** Sets how long a contended turn of the client may be idle before it goes back; 0: as if nothing is moved. */
    void idleRelease(long clientId, long ns);

    /** Records that memory moved; a turn that waits for its memory continues to wait. */
    void moved(long nowNs);

    /** Returns what the client may do, and when it will run. */
    ClientOutlook outlook(long clientId, long nowNs);
}
