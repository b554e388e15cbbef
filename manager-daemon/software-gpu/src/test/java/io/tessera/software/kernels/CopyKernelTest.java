package io.tessera.software.kernels;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tessera.software.execution.LaunchOutcome;
import io.tessera.software.kernels.TestDevice.Kind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The preload library's kernel that brings memory in: every count of units for every grid, and nothing beside them. */
@Timeout(60)
class CopyKernelTest {
    private static final Path TEXT = Path.of("../../native-preload/src/copy_in.ptx");
    private static final int UNIT_INTS = 4;
    private static final int GUARD_UNITS = 2;
    private static final int UNTOUCHED = 0x5A5A5A5A;

    /** Copies {@code units} from and to places that are no more aligned than they have to be. */
    private static void copy(TestDevice device, int blocks, int threads, int units, Random random) {
        int[] source = random.ints((long) (units + GUARD_UNITS) * UNIT_INTS).toArray();
        int[] target = new int[(units + 2 * GUARD_UNITS) * UNIT_INTS];
        Arrays.fill(target, UNTOUCHED);
        long from = device.ints(source);
        long to = device.ints(target);
        LaunchOutcome outcome = device.launch("tessera_copy_in", blocks, threads, to + 16L * GUARD_UNITS, from + 16L,
                (long) units);
        String what = units + " units, " + blocks + " blocks of " + threads;
        System.arraycopy(source, UNIT_INTS, target, GUARD_UNITS * UNIT_INTS, units * UNIT_INTS);
        assertArrayEquals(target, device.ints(to, target.length), () -> what + ": " + outcome);
        device.processor.memory().free(from);
        device.processor.memory().free(to);
    }

    @ParameterizedTest
    @EnumSource
    void everyUnitIsCopiedAndNoOther(Kind kind) throws IOException {
        long seed = Long.getLong("tessera.seed", System.nanoTime());
        System.out.println("everyUnitIsCopiedAndNoOther: seed " + seed);
        Random random = new Random(seed);
        try (TestDevice device = TestDevice.ofText(kind, Files.readString(TEXT))) {
            for (int units = 1; units <= 40; units++) {
                copy(device, 1, 4, units, random);
                copy(device, 3, 3, units, random);
            }
            for (int around : new int[] {512, 1024, 1536, 2048, 4096, 6144}) {
                for (int by = -1; by <= 1; by++) {
                    copy(device, 1, 512, around + by, random);
                    copy(device, 2, 512, around + by, random);
                }
            }
            for (int i = 0; i < 10; i++) {
                copy(device, 1 + random.nextInt(64), 512, 1 + random.nextInt(300_000), random);
            }
            assertEquals("", device.printed.toString());
        }
    }
}
