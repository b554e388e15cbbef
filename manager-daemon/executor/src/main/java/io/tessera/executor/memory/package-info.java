/** The memory of a client: live allocations, pinned memory, and the limit of its tenant. */
package io.tessera.executor.memory;
