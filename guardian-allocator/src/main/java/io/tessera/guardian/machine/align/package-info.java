/** Whether addresses are multiples of what an access needs, and what makes them so. */
package io.tessera.guardian.machine.align;
