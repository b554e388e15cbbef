package io.tessera.guardian.machine.code;

/**
 * Known facts about an instruction by its opcode. Immutable.
 *
 * @param name      as the disassembler prints it
 * @param kind      its effect
 * @param registers maximum number of general registers that it writes, from {@link InstructionWord#destination} on; {@link #MANY}: it may write any
 * @param uniforms  maximum number of uniform registers that it writes, from {@link InstructionWord#uniformDestination} on
 */
public record MachineOpcode(String name, Kind kind, int registers, int uniforms) {
    /** More registers than the table says. */
    public static final int MANY = 256;

    /** Returns whether it may write a general register. */
    public boolean writes(long low, int register) {
        int first = InstructionWord.destination(low);
        return registers == MANY || first != InstructionWord.ZERO_REGISTER && register >= first && register < first + registers;
    }

    /** Returns whether it may write a uniform register. */
    public boolean writesUniform(long low, int register) {
        int first = InstructionWord.uniformDestination(low);
        return uniforms > 0 && first != InstructionWord.ZERO_UNIFORM && register >= first && register < first + uniforms;
    }

    /** Returns whether it accesses global memory by an address of its own. */
    public boolean isGlobal() {
        return kind == Kind.GLOBAL || kind == Kind.GLOBAL_REGISTER;
    }

    /** Returns whether its address may also be in shared or local memory: {@code LD}, {@code ST}, {@code ATOM}. */
    public boolean isGeneric() {
        return isGlobal() && switch (name) {
            case "LD", "ST", "ATOM" -> true;
            default -> false;
        };
    }
}
