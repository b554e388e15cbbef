package io.tessera.fuzz.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.fuzz.generate.GeneratedKernel;
import io.tessera.fuzz.generate.KernelGenerator;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An exception is a failure of its seed, and the campaign goes on where it can. */
class CampaignFailureTest {
    private static final long SEED = 100;
    private static final long BAD = 103;

    private static CampaignResult result(List<String> said, Throwable thrown) throws InterruptedException {
        Campaign campaign = new Campaign(new CampaignSettings(SEED, 6, 60, 1, null, 1, 0, 0, null, 20), said::add, seed -> {
            if (seed == BAD) {
                throw CampaignFailureTest.<RuntimeException>unchecked(thrown);
            }
            return KernelGenerator.of(seed);
        });
        campaign.run(soFar -> {});
        return campaign.result();
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> T unchecked(Throwable thrown) throws T {
        throw (T) thrown;
    }

    @Test
    @Timeout(300)
    void anExceptionIsAFailureOfItsSeed() throws Exception {
        List<String> said = new ArrayList<>();
        CampaignResult result = result(said, new IllegalStateException("is hidden"));
        assertFalse(result.held());
        assertEquals(5, result.kernels(), "those before and behind it");
        Failure failure = result.failures().getFirst();
        assertEquals(BAD, failure.kernel().seed());
        assertEquals(KernelFinding.Kind.CRASH, failure.finding().kind());
        assertTrue(said.getFirst().contains("seed " + BAD) && said.getFirst().contains("is hidden"), said::toString);
        assertEquals(1, result.json().get("crashes").getAsInt());
    }

    @Test
    @Timeout(300)
    void anErrorThatEndsAThreadIsAFailureToo() throws Exception {
        CampaignResult result = result(new ArrayList<>(), new OutOfMemoryError("made up"));
        assertEquals(List.of(BAD), result.failures().stream().map(Failure::kernel).map(GeneratedKernel::seed).toList());
        assertEquals(3, result.kernels(), "those before it");
        assertEquals(0, result.running());
    }
}
