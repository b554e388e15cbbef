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
 * @param sliced the kernel that is to execute a part of its grid, alone ({@code GridSlices}); empty: all, as they are
 * @param plain  functions of which every access is fenced, even where a proof shows that it need not be
 */
public record FenceRequest(FenceMode mode, ComputeCapability device, boolean linked, Optional<String> sliced, PlainFunctions plain) {
    /** Returns the same request with other functions without proofs. */
    public FenceRequest plainly(PlainFunctions functions) {
        return new FenceRequest(mode, device, linked, sliced, functions);
    }
}
