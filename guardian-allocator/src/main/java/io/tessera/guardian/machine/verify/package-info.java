/** Shows that a cubin is fenced, by its bytes alone. Read first: {@code CubinVerifier}; {@code FencedRegisters} is what it knows at a place. */
package io.tessera.guardian.machine.verify;
