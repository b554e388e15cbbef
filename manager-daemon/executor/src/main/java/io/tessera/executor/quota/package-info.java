/** Bounds on the number of objects, and on the host memory, that each tenant may have in the executor: one account for each tenant. */
package io.tessera.executor.quota;
