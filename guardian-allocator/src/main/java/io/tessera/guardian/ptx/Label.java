package io.tessera.guardian.ptx;

/**
 * {@code name:}. Immutable.
 *
 * @param name the label
 * @param line as in {@link Statement}
 */
public record Label(String name, int line) implements Statement {
    @Override
    public boolean equals(Object other) {
        return other instanceof Label that && name.equals(that.name);
    }

    @Override
    public int hashCode() {
        return name.hashCode();
    }
}
