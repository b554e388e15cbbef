package io.tessera.guardian.machine.look;

/**
 * The uniform registers and predicates of a section's looks; see {@link LookWords}. Immutable.
 *
 * @param uniforms the first of {@link LookWords#UNIFORMS} uniform registers, an even one
 * @param due      the uniform predicate that says that a look is due
 * @param goesOn   the uniform predicate that says that threads may go on
 */
public record LookRegisters(int uniforms, int due, int goesOn) {
    /** The uniform register that counts rounds. */
    public int counter() {
        return uniforms + 2;
    }

    /** The uniform register for the stop word. */
    public int word() {
        return uniforms + 3;
    }

    /** Returns the predicates as bits. */
    int predicates() {
        return 1 << due | 1 << goesOn;
    }
}
