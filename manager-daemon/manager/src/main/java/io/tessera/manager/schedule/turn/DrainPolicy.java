package io.tessera.manager.schedule.turn;

/** The treatment of a client that was told to stop and has not drained within the grace (SPEC.md, section 3). */
public enum DrainPolicy {
    /** It runs for another quantum, then is told again: it may wait for work that it has yet to submit itself. */
    EXTEND,
    /** It is waited for, however long that takes. */
    WAIT,
    /** It is ended through {@link TurnPort#end}. */
    END
}
