package io.tessera.guardian.machine.fence;

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
}
