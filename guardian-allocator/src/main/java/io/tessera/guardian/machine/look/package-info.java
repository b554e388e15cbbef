/** Loops of machine code: which end by themselves, and how the others look at the stop word. Used by the fencer and the verifier, uses neither. */
package io.tessera.guardian.machine.look;
