package io.tessera.manager.schedule.turn;

/** Hears of turns as they begin and end; called by the scheduler's owner thread, must not call back into the lock. */
public interface TurnObserver {
    /** The client was GRANTED the device; its queues are empty. */
    void turnStarted(long clientId, long nowNs);

    /** The client gave the device back, drained: everything it submitted since {@code startedNs} has run. */
    void turnEnded(long clientId, long startedNs, long nowNs);
}
