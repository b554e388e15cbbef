package io.tessera.guardian.image;

import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.constraints.IntRange;

/** Damaged images give {@link ImageException}, or no more bytes than they say and are allowed. */
class ImageFuzzTest {
    private static final Duration BOUND = Duration.ofSeconds(10);
    private static final int CAP = 1 << 20;
    private static final List<String> NAMES = List.of("zstd.fatbin", "lz4.fatbin", "plain.fatbin", "options.fatbin",
            "lto.fatbin", "vectors.cubin");

    @Property(tries = 3000, shrinking = ShrinkingMode.OFF)
    void damagedImagesAreRefusedOrBounded(@ForAll @IntRange(max = 5) int sample, @ForAll long seed,
            @ForAll @IntRange(min = 1, max = 8) int changes) throws IOException {
        Random random = new Random(seed);
        byte[] image = FatBinaryTest.bytes(NAMES.get(sample)).clone();
        for (int i = 0; i < changes; i++) {
            // Half of the damage hits the headers, where the lengths are.
            int within = random.nextBoolean() ? Math.min(96, image.length) : image.length;
            int at = random.nextInt(within);
            switch (random.nextInt(3)) {
                case 0 -> image[at] = (byte) random.nextInt(256);
                case 1 -> image[at] ^= (byte) (1 << random.nextInt(8));
                default -> Arrays.fill(image, at, Math.min(image.length, at + 4), (byte) random.nextInt(-1, 2));
            }
        }
        byte[] damaged = random.nextInt(4) == 0 ? Arrays.copyOf(image, random.nextInt(image.length)) : image;
        assertTimeoutPreemptively(BOUND, () -> readOrRefuse(damaged));
    }

    private static void readOrRefuse(byte[] image) {
        try {
            ModuleImage.of(image).ptx(new ComputeCapability(9, 0), CAP);
        } catch (ImageException refused) {
            assertTrue(refused.getMessage().length() < 2000, refused.getMessage());
        }
        FatBinary fatBinary;
        try {
            fatBinary = ModuleImage.of(image).fatBinary();
        } catch (ImageException refused) {
            return;
        }
        for (FatBinaryEntry entry : fatBinary.entries()) {
            assertTrue(entry.toString().length() + entry.name().length() + entry.options().length() < 10_000);
            try {
                assertTrue(entry.unpack(CAP).length <= Math.min(CAP, entry.unpackedBytes()));
            } catch (ImageException refused) {
                assertTrue(refused.getMessage().contains("entry") || refused.getMessage().contains("bytes"),
                        refused.getMessage());
            }
        }
    }
}
