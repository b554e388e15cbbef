/**
 * Modules of tenants as programs see them: fenced programs are made and loaded in the packages below, filled with what they have to know, and shown to the
 * program as if nothing had happened. Also what a kernel is launched as.
 *
 * <p>Start with {@link io.tessera.executor.fence.ClientFences}, {@link io.tessera.executor.fence.program.ProgramMaker} and
 * {@link io.tessera.executor.fence.hang.TenantPresence}.
 */
package io.tessera.executor.fence;
