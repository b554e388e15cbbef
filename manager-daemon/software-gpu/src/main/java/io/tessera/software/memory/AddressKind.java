package io.tessera.software.memory;

/** Kind of memory at a device address; ordinals are the values in the granule map. */
public enum AddressKind {
    /** No memory: an access is illegal. */
    NONE,
    /** Device memory, and registered host memory. */
    GLOBAL,
    /** Constant variables. */
    CONST,
    /** Shared memory of a running block. */
    SHARED,
    /** Local memory of the threads of a running block. */
    LOCAL,
    /** Parameters of a running kernel. */
    PARAM;

    private static final AddressKind[] VALUES = values();

    /** Returns the kind with this value in the granule map. */
    static AddressKind of(int value) {
        return VALUES[value];
    }
}
