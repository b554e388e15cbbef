package io.tessera.executor.fence.load;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.CudaResult;
import io.tessera.executor.fence.hang.TenantPresence;
import io.tessera.executor.fence.program.FencedImage;
import io.tessera.executor.fence.program.ProgramRefusedException;
import io.tessera.executor.fence.program.ProgramSource;
import io.tessera.executor.fence.program.TrustedImages;
import io.tessera.guardian.image.ModuleImage;
import io.tessera.guardian.machine.MovedVariables;
import io.tessera.guardian.machine.TensorMapPlaces;
import io.tessera.protocol.UnfencedPolicy;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Tests which kernels of images without PTX run, beside which tenants, and in which grade their images count. */
class UnfencedImagesTest {
    private static final ProgramSource SOURCE = ProgramSource.of(ModuleImage.of(new byte[64]));
    private static final TensorMapPlaces MAPS = new TensorMapPlaces(Set.of(64), Set.of(128), false);
    /** Longer than what is shown of a name, as those of templates are. */
    private static final String LONG_NAME = "_ZN" + "x".repeat(2_000);
    private static final PlacedImage FENCED = image("unknown");
    private static final PlacedImage VENDORS = image("vendors");

    private final TenantPresence presence = new TenantPresence();
    private final TenantPresence.Member member = presence.enter("a", 1, () -> {});
    private final UnfencedImages images = images(UnfencedPolicy.OWN, member);

    private static PlacedImage image(String hash) {
        FencedImage image = new FencedImage(new byte[64], hash, Map.of("open", "a reason"), Map.of("returns", "a RET", "copies", "a map"), Map.of(),
                Map.of(), Map.of("copies", "a loop", LONG_NAME, "a loop"), Map.of("copies", MAPS), Map.of(LONG_NAME, 1),
                4,
                true, false, 7, MovedVariables.NONE, List.of());
        return assertDoesNotThrow(() -> PlacedImage.place(image, 0, null, null, null, null), "nothing is to be placed");
    }

    private static UnfencedImages images(UnfencedPolicy policy, TenantPresence.Member member) {
        return new UnfencedImages(policy, member, new TrustedImages() {
            @Override
            public boolean mayRunAsItIs(ModuleImage image) {
                return true;
            }

            @Override
            public boolean isVendors(String hash) {
                return hash.equals("vendors");
            }
        }, null);
    }

    private void assertCounts(int shown, int vendors, int unknown, int unfenced) {
        assertEquals(new MachineCodeFigures(shown, vendors, unknown, unfenced), images.figures());
    }

    private static ProgramRefusedException refused(UnfencedImages images, MachineKernel kernel) {
        ProgramRefusedException refused = assertThrows(ProgramRefusedException.class, () -> images.admit(kernel));
        assertEquals(CudaResult.NO_BINARY_FOR_GPU, refused.result());
        return refused;
    }

    @Test
    void anImageAsItIsCountsAtOnce() {
        images.loaded(16, SOURCE, null);
        assertCounts(0, 0, 0, 1);
        assertNull(images.kernel(16, "any").tensorMaps());
        assertFalse(images.reports(16));
        images.unloaded(16);
        assertCounts(0, 0, 0, 0);
        assertNull(images.kernel(16, "any"));
    }

    @Test
    void anImageCountsByTheLeastOfItsKernelsThatHaveRun() throws Exception {
        images.loaded(16, SOURCE, FENCED);
        images.loaded(32, SOURCE, VENDORS);
        assertTrue(images.reports(16));
        images.kernel(16, "returns");
        assertCounts(2, 0, 0, 0);
        images.admit(images.kernel(16, "plain"));
        assertCounts(2, 0, 0, 0);
        images.admit(images.kernel(32, "returns"));
        assertCounts(1, 1, 0, 0);
        images.admit(images.kernel(16, "returns"));
        assertCounts(0, 1, 1, 0);
        images.admit(images.kernel(16, "open"));
        images.admit(images.kernel(16, "returns"));
        assertCounts(0, 1, 0, 1);
    }

    @Test
    void aKernelMayWaitForBlocksIfItsImageSaysSoOrNothingIsKnown() {
        images.loaded(16, SOURCE, FENCED);
        assertTrue(images.kernel(16, "copies").mayWaitForBlocks());
        assertTrue(images.kernel(16, LONG_NAME).mayWaitForBlocks());
        assertFalse(images.kernel(16, "plain").mayWaitForBlocks());
        assertFalse(images.kernel(16, "returns").mayWaitForBlocks());
        assertTrue(images.kernel(16, "open").mayWaitForBlocks(), "it has no fence");
        assertTrue(images.kernel(16, "").mayWaitForBlocks(), "nobody tells its name");
        images.loaded(32, SOURCE, null);
        assertTrue(images.kernel(32, "plain").mayWaitForBlocks(), "its image is loaded as it is");
        assertTrue(images.kernelFromNowhere("plain").mayWaitForBlocks());
    }

    @Test
    void whatAKernelHasMoreThanItsImageIsKnownByItsWholeName() {
        images.loaded(16, SOURCE, FENCED);
        assertEquals(1, images.kernel(16, LONG_NAME).addedRegisters());
        assertEquals(0, images.kernel(16, "plain").addedRegisters());
        assertEquals(0, images.kernelFromNowhere(LONG_NAME).addedRegisters());
    }

    /** The driver has the code, and images are many and large. */
    @Test
    void codeOfALoadedImageIsNotKept() {
        images.loaded(16, SOURCE, FENCED);
        PlacedImage kept = images.unloaded(16).orElseThrow();
        assertEquals(0, kept.code().length + kept.image().code().length);
        assertEquals(FENCED.image().trusted(), kept.image().trusted());
    }

    @Test
    void theModuleOfALibraryIsTheSameImage() {
        images.loaded(16, SOURCE, FENCED);
        images.moduleOf(16, 32);
        images.moduleOf(48, 64);
        assertEquals(TensorMapPlaces.NONE, images.kernel(32, "plain").tensorMaps());
        assertEquals(MAPS, images.kernel(32, "copies").tensorMaps());
        assertNull(images.kernel(64, "plain"), "of a library that is not known");
        images.unloaded(16);
        assertNull(images.kernel(32, "plain"));
    }

    @Test
    void besideAnotherUserOnlyThatRunsWhichStaysInItsWindow() {
        images.loaded(16, SOURCE, FENCED);
        images.loaded(32, SOURCE, VENDORS);
        images.loaded(48, SOURCE, null);
        assertNotNull(presence.enter("b", 2, () -> {}), "nothing that leaves its window has run");
        assertDoesNotThrow(() -> images.admit(images.kernel(16, "plain")));
        assertDoesNotThrow(() -> images.admit(images.kernel(32, "returns")));
        assertDoesNotThrow(() -> images.admit(images.kernel(32, "copies")));
        assertTrue(
                refused(images, images.kernel(16, "returns")).getMessage()
                        .contains("kernel returns may leave its program's memory: not all of it is shown to stay there (a RET)"));
        assertTrue(refused(images, images.kernel(16, "returns")).getMessage().contains("tessera fence --trust unknown"),
                "what an administrator can do");
        assertTrue(refused(images, images.kernel(32, "open")).getMessage().contains("it has no fence: a reason"), "by the hash it has none either");
        assertTrue(refused(images, images.kernel(48, "any")).getMessage().contains("no fences"));
        refused(images, images.kernelFromNowhere("lost"));
        assertCounts(1, 1, 0, 1);
    }

    @Test
    void theUserIsToldOnceOfAKernel() {
        images.loaded(16, SOURCE, FENCED);
        presence.enter("b", 2, () -> {});
        MachineKernel kernel = images.kernel(16, "open");
        assertTrue(assertThrows(ProgramRefusedException.class, () -> images.ask(kernel)).isToTell());
        assertFalse(refused(images, kernel).isToTell());
        assertDoesNotThrow(() -> images.ask(images.kernel(16, "plain")));
    }

    @Test
    void askingKeepsNobodyOut() throws Exception {
        images.loaded(16, SOURCE, FENCED);
        images.ask(images.kernel(16, "open"));
        assertNotNull(presence.enter("b", 2, () -> {}));
    }

    @Test
    void aKernelThatLeavesKeepsOthersOutUntilItsImageGoes() throws Exception {
        images.loaded(16, SOURCE, FENCED);
        images.loaded(32, SOURCE, FENCED);
        images.admit(images.kernel(16, "returns"));
        images.admit(images.kernel(32, "open"));
        assertNull(presence.enter("b", 2, () -> {}));
        images.unloaded(16);
        assertNull(presence.enter("b", 2, () -> {}), "there is another");
        images.unloaded(32);
        TenantPresence.Member other = presence.enter("b", 2, () -> {});
        assertFalse(presence.isSettled(other), "it may still run");
        presence.leave(other);
        images.admit(images.kernelFromNowhere("lost"));
        images.loaded(16, SOURCE, FENCED);
        images.unloaded(16);
        assertNull(presence.enter("b", 2, () -> {}), "nobody knows when that one is gone");
    }

    @Test
    void tensorMapsThatLeadElsewhereAreOneLaunchsOwn() throws Exception {
        images.loaded(32, SOURCE, VENDORS);
        MachineKernel kernel = images.kernel(32, "copies");
        TenantPresence.Member other = presence.enter("b", 2, () -> {});
        images.admit(kernel);
        assertTrue(assertThrows(ProgramRefusedException.class, () -> images.admitElsewhere(kernel)).getMessage().contains("kernel copies"));
        images.admit(kernel);
        assertCounts(0, 1, 0, 0);
        presence.leave(other);
        images.admitElsewhere(kernel);
        assertCounts(0, 0, 0, 1);
        assertNull(presence.enter("b", 2, () -> {}));
    }

    /** The user who runs the manager has named the image, and allowed that it runs as it is. */
    @Test
    void underThePolicyTrustedEverythingRunsThatIsLoaded() {
        presence.enter("b", 2, () -> {});
        UnfencedImages named = images(UnfencedPolicy.TRUSTED, member);
        named.loaded(16, SOURCE, FENCED);
        assertDoesNotThrow(() -> named.admit(named.kernel(16, "open")));
        assertDoesNotThrow(() -> named.decideAsItIs(SOURCE, "why"));
        assertNotNull(presence.enter("c", 3, () -> {}));
    }

    @Test
    void anotherUserGoesAndAllRunsAgain() {
        images.loaded(16, SOURCE, FENCED);
        TenantPresence.Member other = presence.enter("b", 2, () -> {});
        MachineKernel kernel = images.kernel(16, "open");
        refused(images, kernel);
        presence.leave(other);
        assertDoesNotThrow(() -> images.admit(kernel));
    }
}
