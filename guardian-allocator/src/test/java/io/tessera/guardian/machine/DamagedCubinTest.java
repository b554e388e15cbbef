package io.tessera.guardian.machine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import com.sun.management.ThreadMXBean;
import io.tessera.guardian.machine.fence.CubinFencer;
import io.tessera.guardian.machine.verify.CubinVerifier;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Damaged cubins are refused with {@link MachineCodeException}, or read, in bounded time and memory; nothing else is thrown. */
class DamagedCubinTest {
    private static final Duration BOUND = Duration.ofSeconds(20);
    /** Far above what a sample of some KiB needs. */
    private static final long MOST_BYTES = 64L << 20;
    private static final long[] VALUES = {0, 1, 2, 3, 7, 16, 0x41, 0x7f, 0xff, 0xffff, 0x10000, 0x7fffff00, 0x7fffffff, 0x80000000L, 0xffffffffL,
            1L << 40,
            1L << 62, Long.MAX_VALUE, Long.MAX_VALUE - 63, Long.MIN_VALUE, -1, -64};
    /** Offset and width of the fields of an ELF header, a section header and a program header. */
    private static final int[][] FILE = {{0, 4}, {4, 1}, {5, 1}, {6, 1}, {7, 1}, {8, 1}, {0x10, 2}, {0x12, 2}, {0x14, 4}, {0x18, 8}, {0x20, 8},
            {0x28, 8},
            {0x30, 4}, {0x34, 2}, {0x36, 2}, {0x38, 2}, {0x3a, 2}, {0x3c, 2}, {0x3e, 2}};
    private static final int[][] SECTION = {{0, 4}, {4, 4}, {8, 8}, {16, 8}, {24, 8}, {32, 8}, {40, 4}, {44, 4}, {48, 8}, {56, 8}};
    private static final int[][] PROGRAM = {{0, 4}, {4, 4}, {8, 8}, {16, 8}, {24, 8}, {32, 8}, {40, 8}, {48, 8}};
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    static Stream<byte[]> samples() {
        return Stream.of(SampleCubins.full(CubinBuilder.CUDA_13), SampleCubins.full(CubinBuilder.BEFORE));
    }

    @ParameterizedTest
    @MethodSource("samples")
    void anyFieldOfTheHeaderMayBeWrong(byte[] cubin) {
        damageFields(cubin, 0, FILE);
    }

    @ParameterizedTest
    @MethodSource("samples")
    void anyFieldOfASectionMayBeWrong(byte[] cubin) {
        ByteBuffer bytes = ByteBuffer.wrap(cubin).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < bytes.getShort(0x3c); i++) {
            damageFields(cubin, (int) bytes.getLong(0x28) + 64 * i, SECTION);
        }
    }

    @ParameterizedTest
    @MethodSource("samples")
    void anyFieldOfAProgramHeaderMayBeWrong(byte[] cubin) {
        ByteBuffer bytes = ByteBuffer.wrap(cubin).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < bytes.getShort(0x38); i++) {
            damageFields(cubin, (int) bytes.getLong(0x20) + 56 * i, PROGRAM);
        }
    }

    @ParameterizedTest
    @MethodSource("samples")
    void aCubinMayEndAnywhere(byte[] cubin) {
        IntStream.iterate(0, length -> length < cubin.length, length -> length + 64)
                .forEach(length -> check(Arrays.copyOf(cubin, length), "the first " + length + " bytes"));
    }

    @ParameterizedTest
    @ValueSource(ints = {CubinBuilder.CUDA_13, CubinBuilder.BEFORE})
    void theSampleItselfIsFenced(int variant) throws MachineCodeException {
        FencedCubin fenced = CubinFencer.fence(SampleCubins.full(variant), MachineFences.MASK);
        assertEquals(0, fenced.refused(), fenced.functions().toString());
        assertTrue(CubinVerifier.verify(fenced.bytes(), MachineFences.MASK).isEmpty());
    }

    @Test
    void emptyAndOtherFilesAreRefused() {
        check(new byte[0], "nothing");
        check(new byte[64], "zeros");
        check("not an ELF file, but text that is long enough to hold an ELF header".getBytes(), "text");
    }

    @Property(tries = 3000, shrinking = ShrinkingMode.OFF)
    void anyBytesMayBeWrong(@ForAll boolean ofCuda13, @ForAll long seed, @ForAll @IntRange(min = 1, max = 8) int changes) {
        byte[] cubin = SampleCubins.full(ofCuda13 ? CubinBuilder.CUDA_13 : CubinBuilder.BEFORE);
        Random random = new Random(seed);
        for (int i = 0; i < changes; i++) {
            int at = random.nextInt(cubin.length);
            switch (random.nextInt(3)) {
                case 0 -> cubin[at] = (byte) random.nextInt(256);
                case 1 -> cubin[at] ^= (byte) (1 << random.nextInt(8));
                default -> Arrays.fill(cubin, at, Math.min(cubin.length, at + 4), (byte) random.nextInt(-1, 2));
            }
        }
        assertTimeoutPreemptively(BOUND, () -> check(cubin, "seed " + seed));
    }

    private static void damageFields(byte[] cubin, int header, int[][] fields) {
        for (int[] field : fields) {
            for (long value : VALUES) {
                byte[] damaged = cubin.clone();
                byte[] bytes = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(value).array();
                System.arraycopy(bytes, 0, damaged, header + field[0], field[1]);
                check(damaged, "value " + HexFormat.of().toHexDigits(value) + " at 0x" + Integer.toHexString(header + field[0]));
            }
        }
    }

    private static void check(byte[] damaged, String what) {
        long before = THREADS.getCurrentThreadAllocatedBytes();
        MachineFences.all().forEach(fence -> {
            try {
                FencedCubin fenced = CubinFencer.fence(damaged, fence);
                CubinVerifier.verify(fenced.bytes(), fence);
            } catch (MachineCodeException refused) {
                assertTrue(refused.getMessage().length() < 2000, refused.getMessage());
            } catch (RuntimeException | OutOfMemoryError e) {
                fail(what + ", fence " + fence.kind(), e);
            }
            try {
                CubinVerifier.verify(damaged, fence);
            } catch (MachineCodeException refused) {
                assertTrue(refused.getMessage().length() < 2000, refused.getMessage());
            } catch (RuntimeException | OutOfMemoryError e) {
                fail(what + ", verifier of fence " + fence.kind(), e);
            }
        });
        long allocated = THREADS.getCurrentThreadAllocatedBytes() - before;
        assertTrue(allocated < MOST_BYTES, () -> what + ": " + allocated + " bytes allocated");
    }
}
