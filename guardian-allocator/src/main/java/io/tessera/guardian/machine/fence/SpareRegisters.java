package io.tessera.guardian.machine.fence;

import io.tessera.guardian.machine.code.SectionFlow;
import io.tessera.guardian.machine.code.GlobalForm;
import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.Kind;
import io.tessera.guardian.machine.code.MachineOpcode;

/** Registers that code leaves free. Stateless. */
final class SpareRegisters {
    /** Registers are given to threads in groups of eight: a function may use one more where that begins no new group. */
    private static final int GROUP = 8;
    /** {@code EIATTR_REGCOUNT} is so much more than the registers that a function may name. */
    private static final int BEYOND_COUNT = 2;
    /** A function of 255 registers has all that there are. */
    private static final int MOST_COUNT = 254;
    private static final int FIRST = 6;
    private static final int LAST = 58;

    private SpareRegisters() {
    }

    /** The uniform registers that an instruction may name, as bits: each field that could be one counts. */
    private static long uniforms(long low, long high, MachineOpcode operation) {
        long used = 0;
        if (operation.uniforms() > 0) {
            used |= bit(low >>> 16);
            used |= bit((low >>> 16) + 1);
        }
        int key = InstructionWord.key(low, high);
        if (operation.kind() == Kind.GLOBAL) {
            int register = GlobalForm.of(key).uniform(low, high);
            return used | bit(register) | bit(register + 1);
        }
        int form = key & 0x1e00;
        if (operation.kind() == Kind.PLAIN && operation.uniforms() == 0 && (form == 0x1c00 || form == 0x1e00) && !operation.name().startsWith("U")) {
            return used | bit(low >>> 32) | bit((low >>> 32) + 1);
        }
        boolean uniformPath = operation.uniforms() > 0 || operation.name().startsWith("U");
        if (((key & 0x1000) != 0 || uniformPath) && key != 0x882) {
            for (long field : new long[] {low >>> 24, low >>> 32, high, low >>> 16}) {
                used |= bit(field);
                used |= bit(field + 1);
            }
        }
        return used;
    }

    private static long bit(long register) {
        return 1L << (register & 0x3f);
    }

    /** All uniform registers that code may name. */
    static long uniforms(SectionFlow flow) {
        long used = 0;
        for (int i = 0; i < flow.count(); i++) {
            used |= uniforms(flow.low(i), flow.high(i), flow.operation(i));
        }
        return used;
    }

    /**
     * Four uniform registers in a row that are free, the first of them even.
     *
     * @param used bits of those that are not
     * @return the first; {@link InstructionWord#ZERO_UNIFORM}: there are none
     */
    static int uniformPair(long used) {
        for (int first = LAST; first >= FIRST; first -= 2) {
            if ((used >>> first & 0xf) == 0) {
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
}
