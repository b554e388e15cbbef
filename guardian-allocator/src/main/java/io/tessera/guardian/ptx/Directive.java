package io.tessera.guardian.ptx;

/** A directive at the top level of a module. Immutable. */
public sealed interface Directive permits Variable, PtxFunction, FileEntry, Section, Pragma, Alias {
    /** Line of the source where it starts, from 1; 0 for one that was made by a rewriter. Takes no part in equality. */
    int line();
}
