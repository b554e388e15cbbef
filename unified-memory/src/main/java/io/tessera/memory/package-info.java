/**
 * Models of device memory: how a tenant's limit is divided among its clients ({@link
 * io.tessera.memory.QuotaLedger}). Residency is in {@link io.tessera.memory.residency}.
 *
 * <p>JDK only; no clock, no socket, no thread of its own. Sizes are bytes, times nanoseconds of the caller's clock.
 */
package io.tessera.memory;
