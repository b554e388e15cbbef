/** Cubins: sections, symbols, attributes and relocations, read and written back. Read first: {@code Cubin}. */
package io.tessera.guardian.machine.container;
