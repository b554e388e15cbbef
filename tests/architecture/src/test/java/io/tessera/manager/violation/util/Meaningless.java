package io.tessera.manager.violation.util;

/** A package may not be named like this one. */
public final class Meaningless {
}
