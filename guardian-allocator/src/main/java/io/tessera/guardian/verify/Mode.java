package io.tessera.guardian.verify;

/** How a text says that it is fenced; see the README of this module. */
public enum Mode {
    /** The high word of an address is forced into the window. */
    MASK,
    /** The same for windows of any multiple of 4 GiB. */
    MODULO,
    /** An access that misses the window ends its thread. */
    CHECK,
    /** The mode of a tenant that is alone: its variables, traps and calls alone are looked at. */
    NONE
}
