/** Fences in machine code: what is told of them, and what of a kernel is printed. */
package io.tessera.cli.fence.machine;
