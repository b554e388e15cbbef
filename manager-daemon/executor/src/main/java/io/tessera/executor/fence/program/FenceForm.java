package io.tessera.executor.fence.program;

import io.tessera.guardian.fence.FenceMode;
import java.util.Optional;

/**
 * Form of the code that is made of a source. Immutable.
 *
 * @param mode   the fence; {@link FenceMode#NONE} for a tenant that is alone
 * @param sliced the only kernel that is made, in a form whose launches execute a part of its grid ({@code GridSlices}); empty: all kernels, unchanged
 */
public record FenceForm(FenceMode mode, Optional<String> sliced) {
    /** Returns the form for all kernels. */
    public static FenceForm of(FenceMode mode) {
        return new FenceForm(mode, Optional.empty());
    }

    /** Returns the form for one kernel and parts of its grid. */
    public static FenceForm sliced(FenceMode mode, String kernel) {
        return new FenceForm(mode, Optional.of(kernel));
    }
}
