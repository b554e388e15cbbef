/** What memory is a client's: live allocations, pinned memory, and the limit of its tenant. */
package io.tessera.executor.memory;
