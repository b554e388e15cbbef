/**
 * The lowered program: what the interpreter and the compiler both consume. A {@link io.tessera.software.program.Kernel}
 * holds everything that one entry point can reach, with registers numbered, branch targets resolved and every variable
 * laid out; nothing in it refers to PTX text any more, except line numbers for messages. All types are immutable.
 */
package io.tessera.software.program;
