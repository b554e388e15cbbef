package io.tessera.manager.schedule.turn;

/** The treatment of a client that was told to stop and has not drained within the grace (SPEC.md, section 3). */
public enum DrainPolicy {
    /** The client runs for another quantum and is then told again to stop: it may wait for work that it has yet to submit itself. */
    EXTEND,
    /** The manager waits for the client, however long that takes. */
    WAIT,
    /** The client is ended through {@link TurnPort#end}. */
    END
}
