/**
 * Finds the clients that keep the device busy: kernels that do not end are found and ended, and no client is admitted beside unfenced work.
 *
 * <p>{@link io.tessera.executor.fence.hang.Watchdog} comes first.
 */
package io.tessera.executor.fence.hang;
