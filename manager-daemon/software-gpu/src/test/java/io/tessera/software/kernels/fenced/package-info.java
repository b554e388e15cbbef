/** Fenced kernels: their results, launches in parts, ends, and modified texts. */
package io.tessera.software.kernels.fenced;
