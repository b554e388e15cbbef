package io.tessera.guardian.machine.fence;

import io.tessera.guardian.machine.code.SectionFlow;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.MachineOpcode;
import java.util.BitSet;
import java.util.Set;

/** Registers that code leaves free. Stateless. */
final class SpareRegisters {
    /** Registers are given to threads in groups of eight: a function may use one more where that begins no new group or costs nothing. */
    private static final int GROUP = 8;
    /** {@code EIATTR_REGCOUNT} is larger by this than the number of registers that a function may name. */
    private static final int BEYOND_COUNT = 2;
    /** A function of 255 registers has all that there are. */
    private static final int MOST_COUNT = 254;
    /** A multiprocessor has 32 registers for each thread that it can hold at most: up to there a new group costs nothing. */
    private static final int FREE_COUNT = 32;
    /** A product of matrices writes at most this many registers, and operands have at most {@link #WIDEST}. */
    private static final int MATRIX_REGISTERS = 128;
    /** Instructions whose bits for operands name no register. */
    private static final Set<String> WITHOUT_OPERANDS = Set.of("BRA", "BSSY", "BSYNC", "EXIT", "NOP", "YIELD");
    private static final int WIDEST = 8;
    private static final int FIRST = 6;
    private static final int LAST = 62;

    private SpareRegisters() {
    }

    /** The uniform registers that code uses, as bits: those that an instruction of it may write. Code that reads others reads what nothing has put there. */
    static long uniforms(SectionFlow flow) {
        long used = 0;
        for (int i = 0; i < flow.count(); i++) {
            MachineOpcode operation = flow.operation(i);
            for (int u = 0; u < operation.uniforms(); u++) {
                used |= 1L << InstructionWord.uniformDestination(flow.low(i)) + u;
            }
        }
        return used;
    }

    /**
     * Returns the first of several free consecutive uniform registers; it is even.
     *
     * @param used  bits of the registers that are not free
     * @param count number of registers
     * @return the first; {@link InstructionWord#ZERO_UNIFORM} if there are none
     */
    static int uniforms(long used, int count) {
        for (int first = LAST - count; first >= FIRST; first -= 2) {
            if ((used >>> first & (1L << count) - 1) == 0) {
                return first;
            }
        }
        return InstructionWord.ZERO_UNIFORM;
    }

    /**
     * A general register that the code does not use and that its threads have anyway.
     *
     * @param count {@code EIATTR_REGCOUNT} of the function
     * @return {@link InstructionWord#ZERO_REGISTER}: there is none, or something in the code may write any register
     */
    static int general(SectionFlow flow, int count) {
        int register = count - BEYOND_COUNT;
        if (count < GROUP || count % GROUP == 0 || count >= MOST_COUNT) {
            return InstructionWord.ZERO_REGISTER;
        }
        for (int i = 0; i < flow.count(); i++) {
            MachineOpcode operation = flow.operation(i);
            boolean leaves = switch (operation.kind()) {
                case CALL_SYMBOL, CALL_REGISTER, REGISTER_COUNT, MATRIX, TEXTURE -> true;
                default -> false;
            };
            if (leaves || operation.registers() != MachineOpcode.MANY && operation.writes(flow.low(i), register)) {
                return InstructionWord.ZERO_REGISTER;
            }
        }
        return register;
    }

    /**
     * A general register that no instruction names, though functions that are called may use it. First one that the code's threads have anyway, else the next one, which no code can
     * name, where that begins no new group or costs nothing.
     *
     * @param count {@code EIATTR_REGCOUNT} of the function; one more is needed for the register that is {@link #isBeyond}
     * @return {@link InstructionWord#ZERO_REGISTER}: there is none
     */
    static int unnamed(SectionFlow flow, int count) {
        BitSet named = new BitSet();
        BitSet written = new BitSet();
        for (int i = 0; i < flow.count(); i++) {
            MachineOpcode operation = flow.operation(i);
            int first = InstructionWord.destination(flow.low(i));
            switch (operation.kind()) {
                case REGISTER_COUNT, TEXTURE -> {
                    return InstructionWord.ZERO_REGISTER;
                }
                case MATRIX -> named.set(first, first + MATRIX_REGISTERS);
                default -> written.set(first, first + (operation.registers() == MachineOpcode.MANY ? 0 : operation.registers()));
            }
            // The other operands of a constant's load are its place.
            int operands = WITHOUT_OPERANDS.contains(operation.name()) ? 0 : "LDC".equals(operation.name()) ? 1 : InstructionWord.OPERANDS;
            for (int place = 0; place < operands; place++) {
                int operand = InstructionWord.operand(flow.low(i), flow.high(i), place);
                named.set(operand, operand + WIDEST);
            }
        }
        named.or(written);
        int register = named.nextClearBit(0);
        int next = count - BEYOND_COUNT;
        boolean grows = count > BEYOND_COUNT && (count % GROUP != 0 || count < FREE_COUNT) && count < MOST_COUNT && !written.get(next);
        return register < next ? register : grows ? next : InstructionWord.ZERO_REGISTER;
    }

    /** Returns whether a function has a register only if its count is raised by one. */
    static boolean isBeyond(int register, int count) {
        return register >= count - BEYOND_COUNT;
    }
}
