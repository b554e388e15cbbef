/**
 * Modules of tenants as programs see them: fenced programs are made and loaded in the packages below, filled with their constants, and shown to the program as
 * if they were the originals. This package also chooses the code of each launch.
 *
 * <p>Start with {@link io.tessera.executor.fence.ClientFences}, {@link io.tessera.executor.fence.program.ProgramMaker} and
 * {@link io.tessera.executor.fence.hang.TenantPresence}.
 */
package io.tessera.executor.fence;
