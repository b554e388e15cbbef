package io.tessera.guardian.machine;

import java.util.Set;

/**
 * Where in a kernel's parameters the tensor maps lie that it copies by. Immutable.
 *
 * @param single distances in bytes from the start of the parameters
 * @param many   likewise, where the first of several maps of 64 bytes lies, one of which the kernel takes by an index. That the index is one of theirs is taken on trust
 * @param conditional whether an address is only computed where a predicate holds. That the copy is only executed there is taken on trust
 */
public record TensorMapPlaces(Set<Integer> single, Set<Integer> many, boolean conditional) {
    /** The places of a kernel that copies by none. */
    public static final TensorMapPlaces NONE = new TensorMapPlaces(Set.of(), Set.of(), false);

    /** Keeps copies. */
    public TensorMapPlaces {
        single = Set.copyOf(single);
        many = Set.copyOf(many);
    }

    /** What is taken on trust; null: nothing. Every map is named by uniform registers, of which neither the time of writing nor other threads' writes are followed. */
    public String trusted() {
        if (isEmpty()) {
            return null;
        }
        return conditional ? "a tensor map whose address is computed under a predicate"
                : many.isEmpty() ? "a tensor map by uniform registers, which may change before the copy"
                : "a tensor map that an index takes among others";
    }

    /** Whether there is none. */
    public boolean isEmpty() {
        return single.isEmpty() && many.isEmpty();
    }
}
