package io.tessera.guardian.verify;

import io.tessera.guardian.ptx.StateSpace;
import io.tessera.guardian.ptx.Variable;

/**
 * A variable or parameter, by identity.
 *
 * @param name     in the text
 * @param space    where it lies
 * @param bytes    its size; 0 of dynamic shared memory
 * @param align    log2 of its alignment
 * @param written  whether a function may write it: arguments and results of calls, by their name
 */
public record Symbol(String name, StateSpace space, long bytes, int align, boolean written) {
    /** Stands for the end of the block's shared memory. */
    public static final Symbol END = new Symbol("", StateSpace.SHARED, 0, 0, false);

    /** A variable of a text, of this many bytes. */
    public static Symbol of(Variable variable, boolean written, long bytes) {
        return new Symbol(variable.name(), variable.space(), bytes, Long.numberOfTrailingZeros(Math.max(1, variable.alignment())), written);
    }

    @Override
    public boolean equals(Object other) {
        return this == other;
    }

    @Override
    public int hashCode() {
        return System.identityHashCode(this);
    }
}
