package io.tessera.manager.schedule.mode;

import io.tessera.manager.schedule.turn.TurnLock;
import io.tessera.manager.schedule.turn.TurnObserver;

/**
 * A way of sharing a device in time: decides whether clients take turns now, and why. ADDING_A_MODE.md describes how to add one.
 *
 * <p>The scheduler reports every event before it asks. Times are the scheduler's, in nanoseconds. Not thread-safe: used by the scheduler's owner
 * thread. A mode has no orders and no lock: {@link TurnLock} alone keeps the invariants of turns, so no mode can break them.
 */
public interface SharingMode extends TurnObserver {
    /** Records that a client came. */
    void joined(long clientId, long nowNs);

    /** Records that a client is gone. */
    void left(long clientId, long nowNs);

    /** Records that a client began or ceased to wait at its gate. */
    void waits(long clientId, boolean waiting, long nowNs);

    /** Records what memory requires of the schedule. */
    void memory(MemoryVerdict verdict, long nowNs);

    /** Does the work that is due; returns its amount. */
    int doWork(long nowNs);

    /** Returns when {@link #doWork} has to run next; {@link Long#MAX_VALUE}: never. */
    long nextDeadlineNs();

    /** Returns whether clients take turns from now on. */
    boolean exclusive();

    /** Returns whether clients that may run have to sample how busy the device is with their work. */
    boolean sample();

    /** Returns the bound on what clients queue while all may run, as time to drain in nanoseconds; 0: none. */
    long freePaceNs();

    /** Returns the length of turns, given the length that was set. */
    long turnQuantumNs(long setQuantumNs);

    /** Returns why clients share the device as they do now, in one sentence. */
    String reason(long nowNs);
}
