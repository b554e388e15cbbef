package io.tessera.manager.schedule;

/** How clients of a device share it in time. */
public enum SchedulerMode {
    /** Everybody runs at once; the hardware switches between contexts. */
    OFF,
    /** One client at a time, for a quantum. */
    ON,
    /** Whichever of the two does more work with the present clients; exclusive while memory is oversubscribed. */
    AUTO
}
