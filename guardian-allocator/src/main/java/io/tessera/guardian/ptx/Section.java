package io.tessera.guardian.ptx;

import java.util.List;
import java.util.Objects;

/**
 * {@code .section}: debug information, kept as text because nothing here interprets it. Immutable.
 *
 * @param name  for instance {@code .debug_info}
 * @param lines its statements in order, one each, with single blanks: {@code .b8 1,2,3}, {@code .b32 label+4},
 *              {@code label:}
 * @param line  as in {@link Directive}
 */
public record Section(String name, List<String> lines, int line) implements Directive {
    /** Copies the list. */
    public Section {
        lines = List.copyOf(lines);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Section that && name.equals(that.name) && lines.equals(that.lines);
    }

    @Override
    public int hashCode() {
        return Objects.hash(name, lines);
    }
}
