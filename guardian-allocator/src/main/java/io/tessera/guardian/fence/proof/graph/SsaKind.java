package io.tessera.guardian.fence.proof.graph;

/** Origin of a value of {@link Ssa}. */
public enum SsaKind {
    /** The register was never written: anything. */
    UNDEFINED,
    /** Result of an instruction that runs. */
    RESULT,
    /** One of the values of the predecessors, in their order. */
    PHI,
    /** The only input, on a way where a condition holds. */
    REFINED,
    /** First input where the guard of the instruction is false, second where it is true. */
    GUARDED
}
