package io.tessera.guardian.machine;

import java.util.Set;

/**
 * Positions in a kernel's parameters of the tensor maps that it uses for copies. Immutable.
 *
 * @param single distances in bytes from the start of the parameters
 * @param many   likewise, for the first of several maps of 64 bytes, which the kernel indexes. It is not verified that the index is in range
 * @param conditional whether an address is only computed where a predicate holds. It is not verified that the copy is only executed there
 */
public record TensorMapPlaces(Set<Integer> single, Set<Integer> many, boolean conditional) {
    /** The places of a kernel that copies by none. */
    public static final TensorMapPlaces NONE = new TensorMapPlaces(Set.of(), Set.of(), false);

    /** Keeps copies. */
    public TensorMapPlaces {
        single = Set.copyOf(single);
        many = Set.copyOf(many);
    }

    /**
     * Returns the assumptions that are not verified; null if there are none. Every map is named by uniform registers; neither the time of writes to
     * them nor writes of other threads are tracked.
     */
    public String trusted() {
        if (isEmpty()) {
            return null;
        }
        return conditional ? "a tensor map whose address is computed under a predicate"
                : many.isEmpty() ? "a tensor map by uniform registers, which may change before the copy"
                : "a tensor map that an index takes among others";
    }

    /** Returns whether there are no maps. */
    public boolean isEmpty() {
        return single.isEmpty() && many.isEmpty();
    }
}
