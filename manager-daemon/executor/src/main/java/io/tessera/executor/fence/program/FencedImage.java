package io.tessera.executor.fence.program;

import io.tessera.guardian.machine.MovedVariables;
import io.tessera.guardian.machine.TensorMapPlaces;
import java.util.List;
import java.util.Map;

/**
 * Machine code of an image with fences for one tenant's window. Immutable as long as the bytes are not written.
 *
 * @param code     a cubin
 * @param hash     hash of the unpacked cubin from which it was made ({@link io.tessera.guardian.image.ModuleImage#hash})
 * @param refused  kernels that have no fence, with the reason, by name
 * @param trusted  kernels whose fence hand-made code might evade, with the first property that is not verified in them or in their callees, by name
 * @param endless  kernels that may run for ever and do not look at the stop word, with the first loop, by name; empty where no loop looks
 * @param misaligned kernels with an access whose address is not seen to be aligned, with the first one, by name; empty where addresses are not aligned
 * @param waiting  kernels that may wait for other blocks of their grid, with the first loop, by name
 * @param tensorMaps places of tensor maps in the parameters of a kernel that copies by them, by name
 * @param addedRegisters number of registers that kernels have in addition to those in the image, by name; kernels without an entry have none
 * @param kernels  number of kernels
 * @param reports  whether kernels may report and end instead of ending the context
 * @param looks    whether the stop word ends any kernel
 * @param accesses number of instructions that access global memory
 * @param moved    variables that were moved to the window
 * @param assertions texts of assertions, as {@link io.tessera.guardian.machine.FencedCubin#assertions}
 */
public record FencedImage(byte[] code, String hash, Map<String, String> refused, Map<String, String> trusted, Map<String, String> endless,
        Map<String, String> misaligned, Map<String, String> waiting, Map<String, TensorMapPlaces> tensorMaps,
        Map<String, Integer> addedRegisters, int kernels, boolean reports, boolean looks, long accesses, MovedVariables moved,
        List<String> assertions) {
    /** Copies the maps and the list. */
    public FencedImage {
        refused = Map.copyOf(refused);
        trusted = Map.copyOf(trusted);
        endless = Map.copyOf(endless);
        misaligned = Map.copyOf(misaligned);
        waiting = Map.copyOf(waiting);
        tensorMaps = Map.copyOf(tensorMaps);
        addedRegisters = Map.copyOf(addedRegisters);
        assertions = List.copyOf(assertions);
    }

    /** Returns the same image after it was loaded: without code, contents of variables, and texts. */
    public FencedImage loaded() {
        return new FencedImage(new byte[0], hash, refused, trusted, endless, misaligned, waiting, tensorMaps, addedRegisters, kernels, reports, looks,
                accesses,
                MovedVariables.NONE, List.of());
    }
}
