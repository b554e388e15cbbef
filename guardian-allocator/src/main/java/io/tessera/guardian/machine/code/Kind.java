package io.tessera.guardian.machine.code;

/** Effect of an instruction on memory and on control flow. */
public enum Kind {
    /** Computes; no memory, no jump. */
    PLAIN,
    /** Memory of the block or the thread, or constants; no address of global memory. */
    ON_CHIP,
    /** Global memory; an address register and a uniform register that is a descriptor or is added. */
    GLOBAL,
    /** Global memory; an address register alone. */
    GLOBAL_REGISTER,
    /** Tests whether a generic address is in shared or local memory. */
    SPACE_TEST,
    /** Copies by a tensor map. */
    TENSOR,
    /** Multiplies matrices by descriptors of shared memory, and writes many registers. */
    MATRIX,
    /** Reads by a texture handle. */
    TEXTURE,
    /** Goes to a place in its section, perhaps by a condition. */
    BRANCH,
    /** Goes to a place that a table in constant bank 2 names. */
    INDIRECT_BRANCH,
    /** Calls a function in its section. */
    CALL,
    /** Calls a function that a relocation names. */
    CALL_SYMBOL,
    /** Calls a function by a register. */
    CALL_REGISTER,
    /** Returns by a register. */
    RETURN,
    /** Ends the thread. */
    EXIT,
    /** Ends the context: a trap or breakpoint. */
    TRAP,
    /** Says where the threads of a warp meet again. */
    MEETING,
    /** Waits for the others of the warp, and goes on where they meet. */
    MEET,
    /** Gathers threads of a warp, and goes to a place with them. */
    COLLECTIVE,
    /** Changes how many registers a thread has. */
    REGISTER_COUNT
}
