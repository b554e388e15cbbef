/** Prints the tree as PTX text. */
package io.tessera.guardian.ptx.print;
