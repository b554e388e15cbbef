package io.tessera.guardian.ptx;

/** A statement in the body of a function. Immutable. */
public sealed interface Statement permits RegisterDeclaration, Variable, Label, Instruction, Location, Pragma,
        CallPrototype, TargetList {
    /** Line of the source where it starts, from 1; 0 for one that was made by a rewriter. Takes no part in equality. */
    int line();
}
