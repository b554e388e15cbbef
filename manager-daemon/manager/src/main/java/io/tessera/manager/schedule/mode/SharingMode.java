package io.tessera.manager.schedule.mode;

import io.tessera.manager.schedule.turn.TurnLock;
import io.tessera.manager.schedule.turn.TurnObserver;

/**
 * One way of sharing a device in time: says whether clients take turns now, and why. ADDING_A_MODE.md says how to add
 * one.
 *
 * <p>The scheduler tells it of every event before it asks. Times are the scheduler's, in nanoseconds. Not thread-safe:
 * the scheduler's owner thread. A mode holds no orders and no lock: the invariants of turns are
 * {@link TurnLock}'s alone, so no mode can break them.
 */
public interface SharingMode extends TurnObserver {
    /** A client came. */
    void joined(long clientId, long nowNs);

    /** A client is gone. */
    void left(long clientId, long nowNs);

    /** A client began or ceased to wait at its gate. */
    void waits(long clientId, boolean waiting, long nowNs);

    /** What memory asks of the schedule. */
    void memory(MemoryVerdict verdict, long nowNs);

    /** Runs what is due; returns how many things it did. */
    int doWork(long nowNs);

    /** When {@link #doWork} has to run next; {@link Long#MAX_VALUE}: never. */
    long nextDeadlineNs();

    /** Whether clients take turns from now on. */
    boolean exclusive();

    /** Whether clients that may run have to sample how busy the device is with their work. */
    boolean sample();

    /** Bound on what clients queue while everybody may run, as time to drain in nanoseconds; 0: none. */
    long freePaceNs();

    /** Length of turns, given the length that was set. */
    long turnQuantumNs(long setQuantumNs);

    /** Why clients share the device as they do now, in one sentence. */
    String reason(long nowNs);
}
