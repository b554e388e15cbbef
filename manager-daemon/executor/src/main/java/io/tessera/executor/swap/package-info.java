/**
 * Memory of tenants that is not on the device: who has to leave when it does not suffice for all
 * ({@link io.tessera.executor.swap.ResidencyTurns}), what of a tenant's memory has to be copied at all
 * ({@link io.tessera.executor.swap.ContentKernel}), and the host memory that it is copied to
 * ({@link io.tessera.executor.swap.HostFrames}). What is mapped where is the business of
 * {@code io.tessera.executor.window}.
 */
package io.tessera.executor.swap;
