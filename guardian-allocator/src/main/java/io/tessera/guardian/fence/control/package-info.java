/** Fences of loops, calls, barriers, member masks and other operands that are no addresses. */
package io.tessera.guardian.fence.control;
