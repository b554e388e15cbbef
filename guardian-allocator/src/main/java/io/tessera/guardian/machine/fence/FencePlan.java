package io.tessera.guardian.machine.fence;

import io.tessera.guardian.machine.code.InstructionWord;

/**
 * The registers that a section has for its fence. Immutable.
 *
 * @param uniform      the first of four uniform registers that nothing else uses: a pair of 0 and the base, and a pair of anything and the base;
 *                     {@link InstructionWord#ZERO_UNIFORM}: none
 * @param bounds       pairs of uniform registers for accesses that add one to their address
 * @param baseRegister a general register that keeps the base; {@link InstructionWord#ZERO_REGISTER}: none
 */
record FencePlan(int uniform, BoundPairs bounds, int baseRegister) {
    /** Uniform registers that {@link #uniform} is the first of. */
    static final int BASE_PAIRS = 4;
    /** A plan without registers. */
    static final FencePlan WITHOUT_REGISTERS = new FencePlan(InstructionWord.ZERO_UNIFORM, BoundPairs.NONE, InstructionWord.ZERO_REGISTER);

    boolean hasUniform() {
        return uniform != InstructionWord.ZERO_UNIFORM;
    }

    boolean hasRegister() {
        return baseRegister != InstructionWord.ZERO_REGISTER;
    }
}
