package io.tessera.guardian.ptx;

import java.util.List;

/**
 * <code>{ ... }</code>: statements with a scope of their own for registers, variables and labels. Immutable.
 *
 * @param statements in order
 * @param line       as in {@link Statement}
 */
public record Block(List<Statement> statements, int line) implements Statement {
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
