/**
 * Machine code of NVIDIA GPUs ("SASS"): {@code container} reads and writes cubins, {@code code} decodes instructions,
 * {@code fence} puts fences in, {@code verify} shows that a cubin is fenced. Read first: {@code CubinFencer}. Nothing here
 * needs a GPU. MACHINE.md has the design.
 */
package io.tessera.guardian.machine;
