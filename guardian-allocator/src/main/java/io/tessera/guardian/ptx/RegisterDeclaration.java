package io.tessera.guardian.ptx;

import java.util.Objects;

/**
 * {@code .reg .f32 %f<12>;}: a row of registers of one type, {@code %f0} to {@code %f11}. Immutable.
 *
 * @param type   type of each
 * @param prefix common prefix of their names; it does not end in a digit
 * @param count  number of registers, at least 1
 * @param line   as in {@link Statement}
 */
public record RegisterDeclaration(ScalarType type, String prefix, int count, int line) implements Statement {
    @Override
    public boolean equals(Object other) {
        return other instanceof RegisterDeclaration that && type == that.type && prefix.equals(that.prefix)
                && count == that.count;
    }

    @Override
    public int hashCode() {
        return Objects.hash(type, prefix, count);
    }
}
