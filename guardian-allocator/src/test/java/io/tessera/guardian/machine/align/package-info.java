/** Tests of what is known of the lowest bits of registers. */
package io.tessera.guardian.machine.align;
