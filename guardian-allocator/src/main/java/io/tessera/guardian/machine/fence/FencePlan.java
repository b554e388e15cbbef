package io.tessera.guardian.machine.fence;

import io.tessera.guardian.machine.code.Instruction;

/**
 * The registers that a section has for its fence. Immutable.
 *
 * @param uniform      the first of four uniform registers that nothing else uses: a pair of 0 and the base, and a pair of anything and the base;
 *                     {@link Instruction#ZERO_UNIFORM}: none
 * @param baseRegister a general register that keeps the base; {@link Instruction#ZERO_REGISTER}: none
 */
record FencePlan(int uniform, int baseRegister) {
    /** No register. */
    static final FencePlan WITHOUT_REGISTERS = new FencePlan(Instruction.ZERO_UNIFORM, Instruction.ZERO_REGISTER);

    boolean hasUniform() {
        return uniform != Instruction.ZERO_UNIFORM;
    }

    boolean hasRegister() {
        return baseRegister != Instruction.ZERO_REGISTER;
    }
}
