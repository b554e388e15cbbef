package io.tessera.executor.fence.load;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.executor.fence.hang.TenantPresence;
import io.tessera.executor.fence.program.FencedImage;
import io.tessera.executor.fence.program.ProgramSource;
import io.tessera.guardian.image.ModuleImage;
import io.tessera.protocol.UnfencedPolicy;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Which images without PTX count as unfenced. */
class UnfencedImagesTest {
    private static final ProgramSource SOURCE = ProgramSource.of(ModuleImage.of(new byte[64]));
    private static final FencedImage FENCED = new FencedImage(new byte[64], Map.of("reached", "a reason"), 2, true, 7);

    private final TenantPresence presence = new TenantPresence();
    private final UnfencedImages images = new UnfencedImages(UnfencedPolicy.OWN, presence.enter("a", 1, () -> {}), null, null);

    @Test
    void anImageAsItIsCountsAtOnce() {
        images.loaded(16, SOURCE, null);
        assertEquals(1, images.count());
        assertFalse(images.isFenced(16, "any"));
        assertFalse(images.reports(16));
        images.unloaded(16);
        assertEquals(0, images.count());
    }

    @Test
    void anImageWithFencesCountsWhenAKernelWithoutOneIsUsed() {
        images.loaded(16, SOURCE, FENCED);
        assertTrue(images.isFenced(16, "other"));
        assertTrue(images.reports(16));
        assertEquals(0, images.count());
        assertFalse(images.isFenced(16, "reached"));
        assertFalse(images.isFenced(16, "reached"));
        assertEquals(1, images.count(), "images are counted, not kernels");
    }

    @Test
    void theModuleOfALibraryIsTheSameImage() {
        images.loaded(16, SOURCE, FENCED);
        images.moduleOf(16, 32);
        images.moduleOf(48, 64);
        assertTrue(images.isFenced(32, "other"));
        assertFalse(images.isFenced(64, "other"), "of a library that is not known");
        images.unloaded(16);
        assertFalse(images.isFenced(32, "other"));
    }
}
