package io.tessera.executor.worker;

import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.plan.PlainFunctions;
import io.tessera.guardian.image.ComputeCapability;

/**
 * How images are to be rewritten. Immutable.
 *
 * @param mode   the fence
 * @param device what their PTX is compiled for
 * @param linked whether they are linked with each other
 * @param plain  functions of which every access is fenced, also where a proof says that it need not be
 */
public record FenceRequest(FenceMode mode, ComputeCapability device, boolean linked, PlainFunctions plain) {
    /** The same with other functions without proofs. */
    public FenceRequest plainly(PlainFunctions functions) {
        return new FenceRequest(mode, device, linked, functions);
    }
}
