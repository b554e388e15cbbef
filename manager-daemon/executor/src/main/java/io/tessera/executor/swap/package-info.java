/**
 * Memory of tenants that is not on the device: the choice of the tenants that leave when it does not suffice for all ({@link
 * io.tessera.executor.swap.ResidencyTurns}), the parts of their memory that have to be copied ({@link
 * io.tessera.executor.swap.ContentKernel}), and the host memory to which they are copied ({@link io.tessera.executor.swap.HostFrames}).
 * {@code io.tessera.executor.window} is responsible for mappings.
 */
package io.tessera.executor.swap;
