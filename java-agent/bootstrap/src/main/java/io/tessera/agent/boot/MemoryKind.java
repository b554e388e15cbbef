package io.tessera.agent.boot;

import java.util.Locale;

/** Kinds of memory that a CUDA program allocates; advice passes the ordinal. */
public enum MemoryKind {
    /** Device memory. */
    DEVICE,
    /** Page-locked host memory. */
    PINNED,
    /** Managed memory. */
    MANAGED,
    /** Arrays, whose size the agent does not know. */
    ARRAY;

    private static final MemoryKind[] ALL = values();

    /** Returns the kind with an ordinal. */
    static MemoryKind of(int ordinal) {
        return ALL[ordinal];
    }

    /** Returns whether it counts as device memory. */
    boolean onDevice() {
        return this != PINNED;
    }

    /**
     * Returns its name in rows.
     *
     * @return the name in lower case
     */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
