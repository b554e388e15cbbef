/** Checks whether addresses have the alignment that an access needs, and aligns those that may not have it. */
package io.tessera.guardian.machine.align;
