package io.tessera.guardian.ptx;

import java.util.Objects;

/**
 * {@code .alias name, target;}: a second name of a function. Immutable.
 *
 * @param name   the new name, declared before without a body
 * @param target the function that it stands for
 * @param line   as in {@link Directive}
 */
public record Alias(String name, String target, int line) implements Directive {
    @Override
    public boolean equals(Object other) {
        return other instanceof Alias that && name.equals(that.name) && target.equals(that.target);
    }

    @Override
    public int hashCode() {
        return Objects.hash(name, target);
    }
}
