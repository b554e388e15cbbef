package io.tessera.software.program;

/** State space of an address. */
public enum AddressSpace {
    /** Any window: a real address. */
    GENERIC,
    /** Device memory and registered host memory: a real address. */
    GLOBAL,
    /** Constant variables: a real address. */
    CONST,
    /** The block's own shared memory: bytes from its begin. */
    SHARED,
    /** Shared memory of any block of the cluster: the block's rank plus one in bits 24 and up, zero for the own one. */
    SHARED_CLUSTER,
    /** The thread's local memory, which holds the frames of functions: bytes from its begin. */
    LOCAL,
    /** Parameters of the kernel: bytes from their begin. Parameters of device functions live in their frame. */
    PARAM
}
