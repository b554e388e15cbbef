package io.tessera.software.program;

/** Kind of a module variable without bytes: the host binds an object to it, by the variable's name. */
public enum ReferenceKind {
    /** {@code .texref}. */
    TEXTURE,
    /** {@code .surfref}. */
    SURFACE
}
