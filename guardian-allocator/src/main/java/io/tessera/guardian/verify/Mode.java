package io.tessera.guardian.verify;

/** The fence mode that a text declares; see the README of this module. */
public enum Mode {
    /** The high word of an address is forced into the window. */
    MASK,
    /** As above, for windows of any multiple of 4 GiB. */
    MODULO,
    /** An access that misses the window ends its thread. */
    CHECK,
    /** The mode of a tenant that is alone: its variables, traps and calls alone are looked at. */
    NONE
}
