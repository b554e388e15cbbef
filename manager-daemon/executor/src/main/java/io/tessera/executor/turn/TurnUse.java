package io.tessera.executor.turn;

/** Whether tenants of an executor take turns. The names are those of {@code tessera scheduler}. */
public enum TurnUse {
    /** Never: all run at once, whatever the tenants' terms. */
    OFF,
    /** Always, if there are several tenants. */
    ON,
    /** While the tenants' terms require it: weights or priorities that differ, or a cap. */
    AUTO
}
