package io.tessera.manager.schedule.turn;

/** Receives the begin and the end of turns. Called by the scheduler's owner thread; must not call back into the lock. */
public interface TurnObserver {
    /** The client was GRANTED the device; its queues are empty. */
    void turnStarted(long clientId, long nowNs);

    /** The client gave the device back, drained: everything it submitted since {@code startedNs} has run. */
    void turnEnded(long clientId, long startedNs, long nowNs);
}
