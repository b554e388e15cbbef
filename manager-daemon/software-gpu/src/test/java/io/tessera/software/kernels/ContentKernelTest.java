package io.tessera.software.kernels;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tessera.software.memory.RealMemory;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests that the preload library's kernel for the contents of memory, which runs before memory leaves a device, computes what {@code content.cu} defines. */
@Timeout(120)
class ContentKernelTest {
    private static final Path PTX = Path.of("../../native-preload/src/direct/content/content.ptx");
    private static final int ROWS = 512;
    private static final int THREADS = 256;
    private static final int LINES = 4;
    private static final int SHIFT = 2;
    private static final int BLOCK_INTS = ROWS * THREADS * 4;
    private static final BigInteger PRIME = BigInteger.ONE.shiftLeft(61).subtract(BigInteger.ONE);
    private static final long MASK = PRIME.longValue();
    private final Random random = new Random(4711);
    private final int[] words = random.ints(ROWS * 4 + SHIFT * (LINES - 1)).toArray();
    private final long[] numbers = random.longs(THREADS * LINES * 2).map(number -> number & MASK).toArray();
    private TestDevice device;

    @BeforeEach
    void load() throws IOException {
        device = TestDevice.ofText(TestDevice.Kind.COMPILED, Files.readString(PTX, StandardCharsets.US_ASCII));
        long at = device.module.globals().get("tessera_content_words").address();
        for (int i = 0; i < words.length; i++) {
            RealMemory.putInt(at + 4L * i, words[i]);
        }
        at = device.module.globals().get("tessera_content_numbers").address();
        for (int i = 0; i < numbers.length; i++) {
            RealMemory.putLong(at + 8L * i, numbers[i]);
        }
    }

    @AfterEach
    void close() {
        device.close();
    }

    /** Returns what the kernel is to say of a block: four numbers, and whether anything is not zero. */
    private long[] expected(int[] memory, int block) {
        BigInteger[] sums = {BigInteger.ZERO, BigInteger.ZERO, BigInteger.ZERO, BigInteger.ZERO};
        long filled = 0;
        for (int thread = 0; thread < THREADS; thread++) {
            long[] lines = new long[LINES];
            for (int row = 0; row < ROWS; row++) {
                int at = block * BLOCK_INTS + (row * THREADS + thread) * 4;
                filled |= (memory[at] | memory[at + 1] | memory[at + 2] | memory[at + 3]) != 0 ? 1 : 0;
                for (int line = 0; line < LINES; line++) {
                    int key = row * 4 + line * SHIFT;
                    lines[line] += product(memory[at] + words[key], memory[at + 1] + words[key + 1])
                            + product(memory[at + 2] + words[key + 2], memory[at + 3] + words[key + 3]);
                }
            }
            for (int line = 0; line < LINES; line++) {
                int key = (thread * LINES + line) * 2;
                sums[line] = sums[line].add(BigInteger.valueOf(numbers[key]).multiply(BigInteger.valueOf(lines[line] & 0xffffffffL)))
                        .add(BigInteger.valueOf(numbers[key + 1]).multiply(BigInteger.valueOf(lines[line] >>> 32)));
            }
        }
        long[] result = new long[LINES + 1];
        for (int line = 0; line < LINES; line++) {
            result[line] = sums[line].mod(PRIME).longValue();
        }
        result[LINES] = filled;
        return result;
    }

    private static long product(int one, int two) {
        return (one & 0xffffffffL) * (two & 0xffffffffL);
    }

    private void compare(int[] memory) {
        int blocks = memory.length / BLOCK_INTS;
        long at = device.ints(memory);
        long parts = device.zeros(2 * (blocks + 1));
        for (int block = 0; block < blocks; block++) {
            RealMemory.putLong(parts + 8L * block, at + 4L * BLOCK_INTS * block);
        }
        long results = device.zeros((blocks + 1) * (LINES + 1) * 2);
        device.launch("tessera_content", blocks + 1, THREADS, parts, results);
        for (int block = 0; block <= blocks; block++) {
            long[] found = new long[LINES + 1];
            for (int i = 0; i < found.length; i++) {
                found[i] = RealMemory.getLong(results + 8L * (block * (LINES + 1) + i));
            }
            assertArrayEquals(block < blocks ? expected(memory, block) : new long[LINES + 1], found, "block " + block);
        }
    }

    @Test
    void randomContents() {
        compare(random.ints(3 * BLOCK_INTS).toArray());
    }

    @Test
    void zeroContentsAndSingleBits() {
        int[] memory = new int[4 * BLOCK_INTS];
        memory[BLOCK_INTS] = 1;
        memory[2 * BLOCK_INTS + BLOCK_INTS / 2] = 1 << 31;
        memory[4 * BLOCK_INTS - 1] = 1 << 16;
        compare(memory);
        assertEquals(0, expected(memory, 0)[LINES]);
        assertEquals(1, expected(memory, 3)[LINES]);
    }

    /** All ones, and keys that make the largest numbers: nothing overflows that must not. */
    @Test
    void largestNumbers() {
        Arrays.fill(words, 0);
        Arrays.fill(numbers, MASK - 1);
        long at = device.module.globals().get("tessera_content_words").address();
        for (int i = 0; i < words.length; i++) {
            RealMemory.putInt(at + 4L * i, words[i]);
        }
        at = device.module.globals().get("tessera_content_numbers").address();
        for (int i = 0; i < numbers.length; i++) {
            RealMemory.putLong(at + 8L * i, numbers[i]);
        }
        compare(IntStream.range(0, 2 * BLOCK_INTS).map(i -> -1).toArray());
    }
}
