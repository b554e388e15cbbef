package io.tessera.executor.fence.program;

import io.tessera.guardian.machine.verify.TensorMapPlaces;
import java.util.Map;

/**
 * Machine code of an image with fences for one tenant's window. Immutable as long as nobody writes to the bytes.
 *
 * @param code     a cubin
 * @param refused  kernels that have no fence, with the reason, by name
 * @param tensorMaps where in the parameters of a kernel the tensor maps lie that it copies by, by name
 * @param kernels  how many kernels there are
 * @param reports  whether kernels may report and end instead of ending the context
 * @param accesses how many instructions access global memory
 */
public record FencedImage(byte[] code, Map<String, String> refused, Map<String, TensorMapPlaces> tensorMaps, int kernels, boolean reports,
        long accesses) {
    /** Copies the maps. */
    public FencedImage {
        refused = Map.copyOf(refused);
        tensorMaps = Map.copyOf(tensorMaps);
    }
}
