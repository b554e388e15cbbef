package io.tessera.guardian.machine.verify;

import io.tessera.guardian.machine.code.InstructionWord;

/** Numbers the registers that are distinguished; number 0 stands for all others. Immutable once all are added; until then, one owner thread. */
final class TrackedRegisters {
    private final int[] numbers = new int[InstructionWord.ZERO_REGISTER + 1];
    private final boolean[] addresses = new boolean[InstructionWord.ZERO_REGISTER + 1];
    private int count = 1;

    void add(int register) {
        addResult(register);
        addresses[register] = true;
    }

    /** Adds a register for which pending reads by accesses do not matter. */
    void addResult(int register) {
        if (register < InstructionWord.ZERO_REGISTER && numbers[register] == 0) {
            numbers[register] = count++;
        }
    }

    int count() {
        return count;
    }

    /** Returns the number of a register; 0 if it is not tracked. */
    int number(int register) {
        return numbers[register];
    }

    /** As above, for the upper half of an address; 0 if its reads do not matter. */
    int address(int register) {
        return addresses[register] ? numbers[register] : 0;
    }

    /** Returns whether one of several consecutive registers is tracked. */
    boolean any(int first, int count) {
        for (int r = first; r < first + count; r++) {
            if (numbers[r] != 0) {
                return true;
            }
        }
        return false;
    }

    boolean isEmpty() {
        return count == 1;
    }
}
