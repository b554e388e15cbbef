/**
 * Loops of machine code: finds the loops that end without help, and describes how the others look at the stop word. The fencer and the verifier use
 * this package; it uses neither.
 */
package io.tessera.guardian.machine.look;
