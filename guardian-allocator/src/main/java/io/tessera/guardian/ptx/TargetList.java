package io.tessera.guardian.ptx;

import java.util.List;
import java.util.Objects;

/**
 * {@code label: .branchtargets a, b;} or {@code label: .calltargets f, g;}: where {@code brx.idx} or an indirect call
 * may go. Immutable.
 *
 * @param name    the label of the list
 * @param kind    what the targets are
 * @param targets in order; {@code brx.idx} counts them from 0
 * @param line    as in {@link Statement}
 */
public record TargetList(String name, Kind kind, List<String> targets, int line) implements Statement {
    /** Kind of the targets. */
    public enum Kind {
        /** Labels of this function. */
        BRANCH,
        /** Functions. */
        CALL
    }

    /** Copies the list. */
    public TargetList {
        targets = List.copyOf(targets);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof TargetList that && name.equals(that.name) && kind == that.kind
                && targets.equals(that.targets);
    }

    @Override
    public int hashCode() {
        return Objects.hash(name, kind, targets);
    }
}
