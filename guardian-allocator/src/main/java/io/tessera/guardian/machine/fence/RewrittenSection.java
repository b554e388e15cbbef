package io.tessera.guardian.machine.fence;

import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.WindowPlaces;
import io.tessera.guardian.machine.code.InstructionWord;

/**
 * A section with fences.
 *
 * @param code     two words for each instruction
 * @param places   where each instruction of before is now, or the fence before it; behind them the end
 * @param origins  for each instruction the one of before that it is; -1: a fence
 * @param inserted how many instructions are fences
 * @param accesses how many instructions access global memory
 * @param named    those that name the window, from the start of the code
 */
record RewrittenSection(long[] code, int[] places, int[] origins, int inserted, int accesses, WindowPlaces named) {
    /** Where the instruction at an offset of before is now, in bytes, or what was put in before it; -1 if none began there. */
    long offset(long before) {
        if (before < 0 || before % InstructionWord.BYTES != 0 || before / InstructionWord.BYTES >= places.length) {
            return -1;
        }
        return (long) places[(int) (before / InstructionWord.BYTES)] * InstructionWord.BYTES;
    }

    /** Where the instruction itself is now, in bytes; -1 if none began there. */
    long instruction(long before) {
        long offset = offset(before);
        return offset < 0 || before / InstructionWord.BYTES == places.length - 1 ? offset
                : (long) place((int) (before / InstructionWord.BYTES)) * InstructionWord.BYTES;
    }

    /** Where an instruction of before is now, behind fences that were put in before it. */
    int place(int instruction) {
        int place = places[instruction];
        while (origins[place] != instruction) {
            place++;
        }
        return place;
    }

    /**
     * Where a byte inside an instruction of before is now.
     *
     * @throws MachineCodeException if it was in none
     */
    long within(long before) throws MachineCodeException {
        long instruction = before / InstructionWord.BYTES;
        if (before < 0 || instruction >= places.length - 1) {
            throw new MachineCodeException("a relocation of something that is no instruction: 0x" + Long.toHexString(before));
        }
        return (long) place((int) instruction) * InstructionWord.BYTES + before % InstructionWord.BYTES;
    }
}
