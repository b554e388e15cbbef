package io.tessera.executor.fence.load;

/** Grade of a kernel of machine code, from the best to the worst. */
enum MachineGrade {
    /** It has a fence, and is verified to stay in its window. */
    SHOWN,
    /** It has a fence, but a property that the vendor's compiler ensures is not verified; its cubin is one of the vendor's. */
    VENDORS,
    /** As above, for an unknown cubin: hand-made code might leave the window. */
    UNKNOWN,
    /** It has no fence. */
    UNFENCED;

    /** Returns whether it may run beside other users' programs. */
    boolean isForAll() {
        return this == SHOWN || this == VENDORS;
    }
}
