package io.tessera.guardian.machine.fence;

import io.tessera.guardian.machine.MachineFence;
import io.tessera.guardian.machine.WindowPlaces;
import io.tessera.guardian.machine.code.InstructionWord;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Code that grows. One owner thread. */
final class CodeBuilder {
    private static final long NO_OPERATION = 0x7918;
    private static final long NO_OPERATION_HIGH = 0x000fc00000000000L;

    private long[] words;
    private int count;
    private final Map<WindowPlaces.Value, IntStream.Builder> named = new EnumMap<>(WindowPlaces.Value.class);

    CodeBuilder(int expected) {
        words = new long[2 * Math.max(8, expected)];
    }

    /** Returns the number of instructions. */
    int count() {
        return count;
    }

    /** Appends an instruction. The previous one stalls long enough for a wait for its scoreboard to be effective. */
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

    /** The immediate of the instruction that is appended next, which names the window of a fence. */
    int naming(WindowPlaces.Value value, MachineFence fence) {
        named.computeIfAbsent(value, _ -> IntStream.builder()).add(count * InstructionWord.BYTES);
        return value.of(fence);
    }

    /** The instructions that {@link #naming} was called for, from the start of the code. To be called once, at the end. */
    WindowPlaces named() {
        return named.isEmpty() ? WindowPlaces.NONE
                : new WindowPlaces(named.entrySet().stream().collect(Collectors.toMap(Map.Entry::getKey, each -> each.getValue().build().toArray())));
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

    /** The instruction before the end takes this many cycles at least. */
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
