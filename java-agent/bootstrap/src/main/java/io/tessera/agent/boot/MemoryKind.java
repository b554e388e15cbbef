package io.tessera.agent.boot;

import java.util.Locale;

/** Kinds of memory that a CUDA program allocates; the ordinal is what advice passes. */
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

    /** The kind of an ordinal. */
    static MemoryKind of(int ordinal) {
        return ALL[ordinal];
    }

    /** Whether it counts as device memory. */
    boolean onDevice() {
        return this != PINNED;
    }

    /**
     * How rows name it.
     *
     * @return the name in small letters
     */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
