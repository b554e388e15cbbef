package io.tessera.guardian.machine.look;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.guardian.machine.code.InstructionWord;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Diverged groups of a warp, each in a loop of its own, that share the registers of looks. The words of a look are executed one at a time, and the
 * warp may change to another group between any two of them.
 */
class DivergedLooksTest {
    private static final LookRegisters REGISTERS = new LookRegisters(4, 6, 5);
    private static final long STOP = 0x7f12_3456_7000L;
    private static final int STEP = LookWords.STEP;
    /** A loop: sum, something else, branch; then the look. */
    private static final int BEHIND = 3;
    private static final int ENOUGH = 1 << 16;

    private final int[] uniform = new int[64];
    private final boolean[] predicate = new boolean[8];
    private int stopWord;

    /** The low word of an instruction of a group's loop and look. */
    private static long word(int at, int step) {
        if (at == 0) {
            return LookWords.add(REGISTERS.counter(), step, REGISTERS.due());
        }
        return at == 2 ? LookWords.branch(REGISTERS.due()) : LookWords.behind(STOP, 9, REGISTERS)[2 * (at - BEHIND)];
    }

    private static int destination(int at, long low) {
        return at == 1 ? -1 : InstructionWord.uniformDestination(low);
    }

    /** Executes an instruction of a group; returns the next one's place, -1 if its threads end. */
    private int execute(int at, int step, int[] loaded, int group) {
        if (at == 1) {
            return 2;
        }
        long low = word(at, step);
        int guard = InstructionWord.predicate(low);
        boolean runs = (guard & 7) == InstructionWord.ALWAYS || predicate[guard & 7] ^ guard >= 8;
        int target = (int) (low >>> 24) & 7;
        switch ((int) low & 0xfff) {
            case 0x890 -> {
                if (runs) {
                    long sum = Integer.toUnsignedLong(uniform[(int) (low >>> 24) & 0x3f]) + (low >>> 32);
                    uniform[destination(at, low)] = (int) sum;
                    int carry = (int) (LookWords.addHigh(REGISTERS.due()) >>> 17) & 7;
                    predicate[carry] = sum >>> 32 != 0;
                }
            }
            case 0x882 -> uniform[destination(at, low)] = (int) (low >>> 32);
            case 0x981 -> loaded[group] = stopWord;
            case 0x2ca -> uniform[destination(at, low)] = loaded[group];
            case 0x28c -> predicate[(int) (LookWords.compareHigh(REGISTERS.goesOn()) >>> 17) & 7] = uniform[(int) (low >>> 24) & 0x3f] != 0;
            case 0x547 -> {
                return at == 2 ? predicate[target] ? BEHIND : 0 : predicate[target] ? 0 : at + 1;
            }
            case 0x94d -> {
                return -1;
            }
            default -> throw new AssertionError(Long.toHexString(low));
        }
        return at + 1;
    }

    /** Runs groups until all have ended. A group's turn ends after an instruction whose bit is set in its mask; at random without masks. */
    private boolean end(int[] steps, int[] switches, Random random) {
        int[] at = new int[steps.length];
        int[] loaded = new int[steps.length];
        stopWord = 1;
        int group = 0;
        for (int i = 0; i < ENOUGH; i++) {
            if (i == ENOUGH / 4) {
                assertFalse(Arrays.stream(at).anyMatch(place -> place < 0), "a group ended that was not told to");
                stopWord = 0;
            }
            int executed = at[group];
            at[group] = execute(executed, steps[group], loaded, group);
            if (at[group] < 0 || (switches == null ? random.nextInt(3) == 0 : (switches[group] >>> executed & 1) != 0)) {
                group = next(at, group);
            }
            if (at[group] < 0) {
                return true;
            }
        }
        return false;
    }

    /** The next group that has not ended; the same one if there is none. */
    private static int next(int[] at, int group) {
        int next = group;
        do {
            next = (next + 1) % at.length;
        } while (at[next] < 0 && next != group);
        return next;
    }

    /** With a sum that is always executed, half of these cases would never end: one group's carry is always lost to the other's sum. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void allGroupsEndWhereverTheWarpChangesBetweenThem(int groups) {
        int loops = 1 << BEHIND;
        for (int look : new int[] {0, (1 << LookWords.COUNT) - 1 << BEHIND, 0x55 << BEHIND, 1 << BEHIND + LookWords.COUNT - 3}) {
            for (int first = 0; first < loops * loops * 2; first++) {
                int[] switches = {first % loops | look, first / loops % loops | look, first % loops | look};
                Arrays.fill(predicate, false);
                uniform[REGISTERS.counter()] = first / loops / loops * STEP;
                assertTrue(end(IntStream.range(0, groups).map(_ -> STEP).toArray(), switches, null), () -> "switches " + Arrays.toString(switches));
            }
        }
    }

    @Test
    void allGroupsEndIfTheWarpChangesAtRandom() {
        for (int seed = 0; seed < 200; seed++) {
            Random random = new Random(seed);
            uniform[REGISTERS.counter()] = random.nextInt();
            assertTrue(end(new int[] {STEP, 16 * STEP, STEP + 12_345, 1 << 31}, null, random), "seed " + seed);
        }
    }

    @Test
    void theWordsAreThoseOfTheLook() {
        assertEquals(2 * LookWords.COUNT, LookWords.behind(STOP, 9, REGISTERS).length);
        assertEquals(LookWords.load(9, REGISTERS.uniforms()), word(BEHIND + LookWords.LOAD, STEP));
        assertEquals(LookWords.move(REGISTERS.uniforms(), (int) STOP), word(BEHIND + LookWords.ADDRESS, STEP));
    }
}
