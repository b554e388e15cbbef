package io.tessera.guardian.ptx;

import java.util.List;

/**
 * The body of a function: rows of registers, then variables, then what runs. No two of its declarations have the same name. Immutable.
 *
 * @param statements in order
 * @param line       as in {@link Statement}
 */
public record Block(List<Statement> statements, int line) {
    /** Copies the list. */
    public Block {
        statements = List.copyOf(statements);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Block that && statements.equals(that.statements);
    }

    @Override
    public int hashCode() {
        return statements.hashCode();
    }
}
