package io.tessera.manager.schedule.turn;

/** A client's answer to a turn word; the low byte of the ack word (SPEC.md, section 3). */
public enum AckState {
    CLOSED, OPEN, DRAINING, RELEASED
}
