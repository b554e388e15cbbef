/**
 * Tenants' windows: the range of device addresses that is one tenant's, what is mapped in it, and the memory calls that
 * are served from it. {@link io.tessera.executor.window.WindowAccess} is what a client has of its tenant's
 * window. Where windows lie and how they are divided
 * is decided in {@code io.tessera.guardian.window}, where allocations lie in {@code io.tessera.guardian.heap}.
 */
package io.tessera.executor.window;
