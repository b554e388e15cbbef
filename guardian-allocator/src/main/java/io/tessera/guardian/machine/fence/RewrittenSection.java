package io.tessera.guardian.machine.fence;

import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.code.InstructionWord;

/**
 * A section with fences.
 *
 * @param code     two words for each instruction
 * @param places   where each instruction of before is now, or the fence before it; behind them the end
 * @param origins  for each instruction the one of before that it is; -1: a fence
 * @param inserted how many instructions are fences
 * @param accesses how many instructions access global memory
 */
record RewrittenSection(long[] code, int[] places, int[] origins, int inserted, int accesses) {
    /** Where the instruction at an offset of before is now, in bytes; -1 if none began there. */
    long offset(long before) {
        if (before < 0 || before % InstructionWord.BYTES != 0 || before / InstructionWord.BYTES >= places.length) {
            return -1;
        }
        return (long) places[(int) (before / InstructionWord.BYTES)] * InstructionWord.BYTES;
    }

    /** Where execution goes on behind an instruction of before, in bytes: before anything that was put in there. Of -1 it is where the first instruction is now. */
    int behind(int instruction) {
        if (instruction < 0) {
            return places[0] * InstructionWord.BYTES;
        }
        int place = places[instruction];
        while (origins[place] != instruction) {
            place++;
        }
        return (place + 1) * InstructionWord.BYTES;
    }

    /**
     * Where a byte inside an instruction of before is now.
     *
     * @throws MachineCodeException if it was in none, or in one that got a fence
     */
    long within(long before) throws MachineCodeException {
        long instruction = before / InstructionWord.BYTES;
        if (before < 0 || instruction >= places.length - 1 || origins[places[(int) instruction]] != instruction) {
            throw new MachineCodeException("a relocation of something that is no plain instruction: 0x" + Long.toHexString(before));
        }
        return (long) places[(int) instruction] * InstructionWord.BYTES + before % InstructionWord.BYTES;
    }
}
