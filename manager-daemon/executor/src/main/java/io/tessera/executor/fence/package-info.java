/**
 * Modules of tenants: images are rewritten so that their kernels stay in the tenant's window, compiled by the driver once,
 * filled with what they have to know, and shown to the program as if nothing had happened. Also which kernels may run as
 * they are, and what becomes of a client whose kernels did what they must not.
 *
 * <p>Start with {@link io.tessera.executor.fence.ClientFences}, {@link io.tessera.executor.fence.ProgramMaker} and
 * {@link io.tessera.executor.fence.TenantPresence}.
 */
package io.tessera.executor.fence;
