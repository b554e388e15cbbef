package io.tessera.executor.fence.load;

/** What is known of a kernel of machine code, from the best to the least. */
enum MachineGrade {
    /** It has a fence, and is verified to stay in its window. */
    SHOWN,
    /** It has a fence, and something is taken on trust that the vendor's compiler keeps; its cubin is one of the vendor's. */
    VENDORS,
    /** The same of a cubin that is not known: hand-made code might leave the window. */
    UNKNOWN,
    /** It has no fence. */
    UNFENCED;

    /** Returns whether it may run beside other users' programs. */
    boolean isForAll() {
        return this == SHOWN || this == VENDORS;
    }
}
