package io.tessera.guardian.ptx;

import java.util.List;

/**
 * {@code .pragma "nounroll";}: a hint to NVIDIA's assembler. Immutable.
 *
 * @param values the strings without quotes
 * @param line   as in {@link Statement}
 */
public record Pragma(List<String> values, int line) implements Directive, Statement {
    /** Copies the list. */
    public Pragma {
        values = List.copyOf(values);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Pragma that && values.equals(that.values);
    }

    @Override
    public int hashCode() {
        return values.hashCode();
    }
}
