/** Fenced kernels: their results, launches in parts, ends, and texts that somebody changed. */
package io.tessera.software.kernels.fenced;
