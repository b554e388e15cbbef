package io.tessera.guardian.machine.fence;

import io.tessera.guardian.machine.code.InstructionWord;
import java.util.Arrays;

/** Code that grows. One owner thread. */
final class CodeBuilder {
    private static final long NO_OPERATION = 0x7918;
    private static final long NO_OPERATION_HIGH = 0x000fc00000000000L;

    private long[] words;
    private int count;

    CodeBuilder(int expected) {
        words = new long[2 * Math.max(8, expected)];
    }

    /** How many instructions there are. */
    int count() {
        return count;
    }

    /** Appends one. What is in front of it takes so long that a wait for a scoreboard of it is one. */
    void add(long low, long high) {
        if (count > 0 && (InstructionWord.waits(high) & InstructionWord.scoreboards(words[2 * count - 1])) != 0) {
            atLeast(InstructionWord.SCOREBOARD_CYCLES);
        }
        if (2 * count == words.length) {
            words = Arrays.copyOf(words, 2 * words.length);
        }
        words[2 * count] = low;
        words[2 * count + 1] = high;
        count++;
    }

    long low(int at) {
        return words[2 * at];
    }

    long high(int at) {
        return words[2 * at + 1];
    }

    void set(int at, long low, long high) {
        words[2 * at] = low;
        words[2 * at + 1] = high;
    }

    /** The instruction before the end hands no operand on: another instruction comes between. */
    void interrupt() {
        if (count > 0) {
            words[2 * count - 1] = InstructionWord.withoutReuse(words[2 * count - 1]);
        }
    }

    /** The instruction before the end takes so many cycles at least. */
    void atLeast(int cycles) {
        if (count > 0 && InstructionWord.stall(words[2 * count - 1]) < cycles) {
            words[2 * count - 1] = words[2 * count - 1] & ~(0xfL << 41) | (long) cycles << 41;
        }
    }

    /** All, filled up to a multiple of 128 bytes as compilers do. */
    long[] finish() {
        while (count % 8 != 0) {
            add(NO_OPERATION, NO_OPERATION_HIGH);
        }
        return Arrays.copyOf(words, 2 * count);
    }
}
