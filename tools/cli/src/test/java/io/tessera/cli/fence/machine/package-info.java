/** Fences in machine code: the report, and the printed parts of a kernel. */
package io.tessera.cli.fence.machine;
