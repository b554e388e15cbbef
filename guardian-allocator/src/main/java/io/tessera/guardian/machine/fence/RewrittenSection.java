package io.tessera.guardian.machine.fence;

import io.tessera.guardian.machine.MachineCodeException;
import io.tessera.guardian.machine.WindowPlaces;
import io.tessera.guardian.machine.code.InstructionWord;

/**
 * A section with fences.
 *
 * @param code     two words for each instruction
 * @param places   new index of each original instruction, or of the fence before it; followed by the end
 * @param origins  original index of each instruction; -1 for a fence
 * @param inserted number of fence instructions
 * @param accesses number of instructions that access global memory
 * @param named    places that name the window, from the start of the code
 */
record RewrittenSection(long[] code, int[] places, int[] origins, int inserted, int accesses, WindowPlaces named) {
    /**
     * Returns the new offset, in bytes, of the instruction at an original offset, or of the code that was inserted before it; -1 if none began there.
     */
    long offset(long before) {
        if (before < 0 || before % InstructionWord.BYTES != 0 || before / InstructionWord.BYTES >= places.length) {
            return -1;
        }
        return (long) places[(int) (before / InstructionWord.BYTES)] * InstructionWord.BYTES;
    }

    /** Returns the new offset of the instruction itself, in bytes; -1 if none began there. */
    long instruction(long before) {
        long offset = offset(before);
        return offset < 0 || before / InstructionWord.BYTES == places.length - 1 ? offset
                : (long) place((int) (before / InstructionWord.BYTES)) * InstructionWord.BYTES;
    }

    /** Returns the new index of an original instruction, after the fences that were inserted before it. */
    int place(int instruction) {
        int place = places[instruction];
        while (origins[place] != instruction) {
            place++;
        }
        return place;
    }

    /**
     * Returns the new offset of a byte inside an original instruction.
     *
     * @throws MachineCodeException if it was not in an instruction
     */
    long within(long before) throws MachineCodeException {
        long instruction = before / InstructionWord.BYTES;
        if (before < 0 || instruction >= places.length - 1) {
            throw new MachineCodeException("a relocation of something that is no instruction: 0x" + Long.toHexString(before));
        }
        return (long) place((int) instruction) * InstructionWord.BYTES + before % InstructionWord.BYTES;
    }
}
