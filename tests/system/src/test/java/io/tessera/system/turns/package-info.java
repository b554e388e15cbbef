/** Time sharing: turns, their ends, and several devices. */
package io.tessera.system.turns;
