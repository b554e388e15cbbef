package io.tessera.manager.schedule;

/** Modes in which clients share a device in time. */
public enum SchedulerMode {
    /** All clients run at once; the hardware switches between contexts. */
    OFF,
    /** One client runs at a time, for a quantum. */
    ON,
    /** Whichever of the two does more work with the present clients; turns while memory is oversubscribed. */
    AUTO
}
