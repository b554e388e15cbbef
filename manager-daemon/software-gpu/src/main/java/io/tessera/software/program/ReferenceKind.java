package io.tessera.software.program;

/** What a module variable stands for that holds no bytes: the host binds an object to it, by the variable's name. */
public enum ReferenceKind {
    /** {@code .texref}. */
    TEXTURE,
    /** {@code .surfref}. */
    SURFACE
}
