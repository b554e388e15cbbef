package io.tessera.fuzz;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.fuzz.generate.GeneratedKernel;
import io.tessera.fuzz.generate.KernelGenerator;
import io.tessera.fuzz.run.Campaign;
import io.tessera.fuzz.run.CampaignResult;
import io.tessera.fuzz.run.CampaignSettings;
import io.tessera.fuzz.run.FencingTrial;
import java.nio.file.Path;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Ten seconds of the fuzzer, half a minute with {@code tests/run --long}, and the proof that it can fail. {@code -Dtessera.seed} repeats a run, {@code -Dtessera.test.seconds} is another time. */
class CampaignTest {
    private static final long SECONDS = Long.getLong("tessera.test.seconds", Boolean.getBoolean("tessera.long") ? 30 : 10);
    private static final int CONTROLS = 60;

    private static long seed() {
        long seed = Long.getLong("tessera.seed", new Random().nextLong() >>> 16);
        System.out.println("seed " + seed);
        return seed;
    }

    @Test
    @Timeout(300)
    void fencesNeitherLeakNorChangeResults() throws Exception {
        Campaign campaign = new Campaign(new CampaignSettings(seed(), Long.MAX_VALUE, SECONDS, 1, null, 1, 64, 8, Path.of("target/failures"), 3),
                System.out::println);
        campaign.run(soFar -> {});
        CampaignResult result = campaign.result();
        System.out.println(result.json());
        assertTrue(result.held(), () -> result.json().toString());
        assertTrue(result.kernels() >= 5, () -> "only " + result.kernels() + " kernels");
        assertTrue(result.legal() > 0 && result.kernels() > result.legal(), "legal and hostile ones");
    }

    /** The control: without fences hostile kernels fault, so the test above tests something. */
    @Test
    @Timeout(300)
    void hostileKernelsFaultWithoutFences() throws Exception {
        long seed = seed();
        int hostile = 0;
        int faults = 0;
        try (FencingTrial trial = new FencingTrial(false, 0)) {
            for (int i = 0; i < CONTROLS; i++) {
                GeneratedKernel kernel = KernelGenerator.of(seed + i);
                if (kernel.hostile() && !kernel.endless()) {
                    hostile++;
                    faults += trial.unfenced(kernel).isEmpty() ? 0 : 1;
                }
            }
        }
        assertTrue(faults * 4 >= hostile, faults + " of " + hostile + " fault");
    }

    /** A smaller kernel is made again without some of its steps: that must always be possible, and the same each time. */
    @Test
    void aKernelIsTheSameEachTimeAlsoWithoutSteps() {
        long seed = seed();
        for (int i = 0; i < CONTROLS; i++) {
            GeneratedKernel kernel = KernelGenerator.of(seed + i);
            assertEquals(kernel, KernelGenerator.of(seed + i));
            for (Long step : kernel.steps()) {
                assertFalse(KernelGenerator.of(seed + i, Set.of(step)).steps().contains(step), () -> "seed " + kernel.seed() + " without " + step);
            }
        }
    }
}
