package io.tessera.software.fault;

/** The reason for which a kernel was stopped; the device layer turns it into the CUDA error named here. */
public enum FaultKind {
    /** An access outside live memory: CUDA_ERROR_ILLEGAL_ADDRESS (700). */
    ILLEGAL_ADDRESS,
    /** An address that is not a multiple of the access: CUDA_ERROR_MISALIGNED_ADDRESS (716). */
    MISALIGNED_ADDRESS,
    /** An indirect call or jump to something that is no function: CUDA_ERROR_INVALID_PC (718). */
    INVALID_PC,
    /** {@code trap}: CUDA_ERROR_LAUNCH_FAILED (719). */
    TRAP,
    /** A failed device assertion: CUDA_ERROR_ASSERT (710). */
    ASSERT,
    /** Local memory is used up by frames: CUDA_ERROR_LAUNCH_FAILED (719). */
    STACK_OVERFLOW,
    /** An operand that the instruction does not allow: CUDA_ERROR_ILLEGAL_INSTRUCTION (715). */
    ILLEGAL_INSTRUCTION,
    /** No thread of the grid can go on, because they wait for each other: CUDA_ERROR_LAUNCH_FAILED (719). */
    DEADLOCK
}
