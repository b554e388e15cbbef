package io.tessera.guardian.machine.verify;

import java.util.Map;
import java.util.Set;

/**
 * What is seen of a cubin that is to be loaded. Immutable.
 *
 * @param refused    why functions are not seen to be fenced, by name; empty: all are
 * @param tensorMaps where in the parameters of a kernel the tensor maps lie that it copies by, in bytes from their start; by name. A kernel with maps is fenced
 *                   as far as whoever launches it makes sure that they were made for its program
 */
public record VerifiedCubin(Map<String, String> refused, Map<String, Set<Integer>> tensorMaps) {
    /** Copies both maps. */
    public VerifiedCubin {
        refused = Map.copyOf(refused);
        tensorMaps = Map.copyOf(tensorMaps);
    }
}
