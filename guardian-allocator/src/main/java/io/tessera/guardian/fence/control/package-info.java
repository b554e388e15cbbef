/** Fences of loops, calls, barriers, member masks and other operands that are not addresses. */
package io.tessera.guardian.fence.control;
