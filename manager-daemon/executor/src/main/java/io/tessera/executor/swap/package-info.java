/**
 * Memory of tenants that is not on the device: the choice of the tenants that leave when it does not suffice for all ({@link
 * io.tessera.executor.swap.ResidencyTurns}), the parts of their memory that have to be copied ({@link
 * io.tessera.executor.swap.ContentKernel}), and the host memory that they are copied to ({@link io.tessera.executor.swap.HostFrames}).
 * Mappings are the business of {@code io.tessera.executor.window}.
 */
package io.tessera.executor.swap;
