package io.tessera.guardian.ptx;

import java.util.List;
import java.util.Objects;

/**
 * {@code .reg .f32 %f<12>, x;}. Immutable.
 *
 * @param type         type of an element
 * @param vectorLength 1, 2 or 4
 * @param names        in order
 * @param line         as in {@link Statement}
 */
public record RegisterDeclaration(ScalarType type, int vectorLength, List<Names> names, int line)
        implements Statement {
    /**
     * One register, or a row of them: {@code %f<12>} declares {@code %f0} to {@code %f11}.
     *
     * @param name  name of the register, or what the names of the row start with
     * @param count {@link #SINGLE}, or how many are in the row
     */
    public record Names(String name, int count) {
        /** Count of one register that is named in full. */
        public static final int SINGLE = -1;
    }

    /** Copies the list. */
    public RegisterDeclaration {
        names = List.copyOf(names);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RegisterDeclaration that && type == that.type && vectorLength == that.vectorLength
                && names.equals(that.names);
    }

    @Override
    public int hashCode() {
        return Objects.hash(type, vectorLength, names);
    }
}
