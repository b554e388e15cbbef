package io.tessera.executor.fence.load;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.executor.fence.hang.TenantPresence;
import io.tessera.executor.fence.program.FencedImage;
import io.tessera.guardian.machine.verify.TensorMapPlaces;
import io.tessera.executor.fence.program.ProgramSource;
import io.tessera.guardian.image.ModuleImage;
import io.tessera.protocol.UnfencedPolicy;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Which images without PTX count as unfenced. */
class UnfencedImagesTest {
    private static final ProgramSource SOURCE = ProgramSource.of(ModuleImage.of(new byte[64]));
    private static final TensorMapPlaces MAPS = new TensorMapPlaces(Set.of(64), Set.of(128), false);
    private static final FencedImage FENCED = new FencedImage(new byte[64], Map.of("reached", "a reason"), Map.of("copies", MAPS), 2, true, 7);

    private final TenantPresence presence = new TenantPresence();
    private final UnfencedImages images = new UnfencedImages(UnfencedPolicy.OWN, presence.enter("a", 1, () -> {}), null, null);

    @Test
    void anImageAsItIsCountsAtOnce() {
        images.loaded(16, SOURCE, null);
        assertEquals(1, images.count());
        assertNull(images.tensorMaps(16, "any"));
        assertFalse(images.reports(16));
        images.unloaded(16);
        assertEquals(0, images.count());
    }

    @Test
    void anImageWithFencesCountsWhenAKernelWithoutOneIsUsed() {
        images.loaded(16, SOURCE, FENCED);
        assertEquals(TensorMapPlaces.NONE, images.tensorMaps(16, "other"));
        assertTrue(images.reports(16));
        assertEquals(0, images.count());
        assertNull(images.tensorMaps(16, "reached"));
        assertNull(images.tensorMaps(16, "reached"));
        assertEquals(1, images.count(), "images are counted, not kernels");
    }

    @Test
    void theModuleOfALibraryIsTheSameImage() {
        images.loaded(16, SOURCE, FENCED);
        images.moduleOf(16, 32);
        images.moduleOf(48, 64);
        assertEquals(TensorMapPlaces.NONE, images.tensorMaps(32, "other"));
        assertNull(images.tensorMaps(64, "other"), "of a library that is not known");
        images.unloaded(16);
        assertNull(images.tensorMaps(32, "other"));
    }

    @Test
    void aKernelWithTensorMapsIsFencedUntilOneIsNotKnown() {
        images.loaded(16, SOURCE, FENCED);
        assertEquals(MAPS, images.tensorMaps(16, "copies"));
        assertEquals(0, images.count());
        images.runsUnfenced(16, "copies", "a map");
        assertEquals(1, images.count());
    }
}
