package io.tessera.guardian.fence.proof;

import io.tessera.guardian.ptx.Instruction;

/**
 * An instruction that computes a pointer from a pointer, and that is repeated on shadows: see {@link AddressFacts}.
 * Immutable.
 *
 * @param instruction its first operand is the register that it defines; it has no other result
 * @param pointer     index of the operand that is the pointer and becomes its shadow; the others stay
 */
public record Derivation(Instruction instruction, int pointer) {
}
