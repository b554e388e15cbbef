package io.tessera.guardian.machine.verify;

import io.tessera.guardian.machine.code.InstructionWord;

/** The registers that are told apart, by numbers; number 0 stands for all others. Immutable once all are added. One owner thread before. */
final class TrackedRegisters {
    private final int[] numbers = new int[InstructionWord.ZERO_REGISTER + 1];
    private final boolean[] addresses = new boolean[InstructionWord.ZERO_REGISTER + 1];
    private int count = 1;

    void add(int register) {
        addResult(register);
        addresses[register] = true;
    }

    /** Adds one of which nobody asks whether accesses have read it. */
    void addResult(int register) {
        if (register < InstructionWord.ZERO_REGISTER && numbers[register] == 0) {
            numbers[register] = count++;
        }
    }

    int count() {
        return count;
    }

    /** The number of a register; 0: it is one of the others. */
    int number(int register) {
        return numbers[register];
    }

    /** The same for the upper half of an address; 0: nobody asks for that. */
    int address(int register) {
        return addresses[register] ? numbers[register] : 0;
    }

    /** Whether one of some registers in a row is told apart. */
    boolean any(int first, int count) {
        for (int r = first; r < first + count; r++) {
            if (numbers[r] != 0) {
                return true;
            }
        }
        return false;
    }

    /** Whether any register is told apart. */
    boolean isEmpty() {
        return count == 1;
    }
}
