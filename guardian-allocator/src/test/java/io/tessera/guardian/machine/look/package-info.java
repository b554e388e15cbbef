/** Tests of loops in machine code. */
package io.tessera.guardian.machine.look;
