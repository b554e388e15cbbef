package io.tessera.guardian.machine.fence;

import io.tessera.guardian.machine.code.InstructionWord;

/**
 * The registers that a section has for its fence. Immutable.
 *
 * @param uniform      the first of four uniform registers that nothing else uses: a pair of 0 and the base, and a pair of anything and the base;
 *                     {@link InstructionWord#ZERO_UNIFORM}: none
 * @param temporary    the first of two uniform registers that nothing else uses, for the time from a fence to its access;
 *                     {@link InstructionWord#ZERO_UNIFORM}: none
 * @param baseRegister a general register that keeps the base; {@link InstructionWord#ZERO_REGISTER}: none
 */
record FencePlan(int uniform, int temporary, int baseRegister) {
    /** Uniform registers that {@link #uniform} is the first of. */
    static final int BASE_PAIRS = 4;
    /** Uniform registers that {@link #temporary} is the first of. */
    static final int TEMPORARIES = 2;
    /** No register. */
    static final FencePlan WITHOUT_REGISTERS = new FencePlan(InstructionWord.ZERO_UNIFORM, InstructionWord.ZERO_UNIFORM,
            InstructionWord.ZERO_REGISTER);

    boolean hasUniform() {
        return uniform != InstructionWord.ZERO_UNIFORM;
    }

    boolean hasTemporary() {
        return temporary != InstructionWord.ZERO_UNIFORM;
    }

    boolean hasRegister() {
        return baseRegister != InstructionWord.ZERO_REGISTER;
    }
}
