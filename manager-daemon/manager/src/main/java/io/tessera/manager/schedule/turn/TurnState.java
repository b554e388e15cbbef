package io.tessera.manager.schedule.turn;

/** What a client may do on a device; the low byte of the turn word (SPEC.md, section 3). */
public enum TurnState {
    CLOSED, FREE, GRANTED
}
