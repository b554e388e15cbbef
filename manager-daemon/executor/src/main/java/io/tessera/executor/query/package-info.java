/** QUERY records: facts that only the executor knows, and pinned memory. */
package io.tessera.executor.query;
