package io.tessera.executor.worker;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.plan.PlainFunctions;
import io.tessera.guardian.image.ComputeCapability;
import java.util.Optional;

/**
 * Request to rewrite images. Immutable.
 *
 * @param mode   the fence
 * @param device the device for which their PTX is compiled
 * @param linked whether they are linked with each other
 * @param sliced the only kernel that is made, in a form that executes a part of its grid ({@code GridSlices}); empty: all kernels, unchanged
 * @param plain  functions in which every access is fenced, even if a proof shows that it need not be
 */
public record FenceRequest(FenceMode mode, ComputeCapability device, boolean linked, Optional<String> sliced, PlainFunctions plain) {
    /** Returns the same request with other functions without proofs. */
    public FenceRequest plainly(PlainFunctions functions) {
        return new FenceRequest(mode, device, linked, sliced, functions);
    }
}
