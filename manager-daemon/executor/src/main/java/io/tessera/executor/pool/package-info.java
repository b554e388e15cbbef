/**
 * Stream-ordered memory: pools whose blocks lie in the tenant's window, and memory that is freed while work may still use it.
 * {@link io.tessera.executor.pool.ClientPools} comes first.
 */
package io.tessera.executor.pool;
