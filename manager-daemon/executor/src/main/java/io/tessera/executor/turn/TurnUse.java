package io.tessera.executor.turn;

/** Whether tenants of an executor take turns. The names are those of {@code tessera scheduler}. */
public enum TurnUse {
    /** Never: all run at once, whatever is set for tenants. */
    OFF,
    /** Whenever there are several tenants. */
    ON,
    /** While what is set for tenants needs it: weights or priorities that differ, or a cap. */
    AUTO
}
