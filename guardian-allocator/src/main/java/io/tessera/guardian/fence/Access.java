package io.tessera.guardian.fence;

/**
 * One address of an instruction that touches memory. Immutable.
 *
 * @param operand        index of the operand that holds it
 * @param place          the space that the instruction names
 * @param kind           what is done there
 * @param sizeBytes      bytes that are touched from the address on, without what a length operand says
 * @param alignmentBytes what the address has to be a multiple of, or the GPU faults
 */
record Access(int operand, Place place, Kind kind, int sizeBytes, int alignmentBytes) {
    /** State spaces as far as fences differ. */
    enum Place {
        GLOBAL, SHARED, CLUSTER, LOCAL, CONST, PARAM, GENERIC,
        /** A generic address that has to be one of shared memory ({@code ldmatrix} without a space). */
        GENERIC_SHARED
    }

    /** What is done. */
    enum Kind {
        READ, WRITE, ATOMIC, PREFETCH
    }
}
