/** Finds which memory a kernel can read and write, in terms of its parameters. */
package io.tessera.guardian.fence.footprint;
