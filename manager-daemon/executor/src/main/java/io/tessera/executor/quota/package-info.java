/** How many objects, and how much of the host's memory, each tenant may have in the executor: one account a tenant. */
package io.tessera.executor.quota;
