package io.tessera.fuzz.generate;

/**
 * A number that a register holds, below some bound, perhaps only where a predicate is true.
 *
 * @param register of 32 bits, without sign
 * @param guard    predicate under which it may be used; null: always
 */
record Index(NamedEntity register, NamedEntity guard) {
}
