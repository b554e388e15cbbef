/** From the tree to PTX text. */
package io.tessera.guardian.ptx.print;
