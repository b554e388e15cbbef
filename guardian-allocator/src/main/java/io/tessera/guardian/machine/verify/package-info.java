/**
 * Verifies from its bytes alone that a cubin is fenced. Read first: {@code CubinVerifier}; {@code FencedRegisters} is its knowledge at one
 * instruction.
 */
package io.tessera.guardian.machine.verify;
