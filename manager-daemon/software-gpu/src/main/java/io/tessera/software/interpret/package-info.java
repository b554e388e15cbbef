/**
 * The plain interpreter: runs lowered instructions one by one, as directly as they are described. It is the reference
 * that compiled kernels are compared with, and it runs what the compiler does not compile. Instructions without side
 * effects are in the {@code *Operations} classes by subject; {@link io.tessera.software.interpret.Interpreter} is the
 * entry.
 */
package io.tessera.software.interpret;
