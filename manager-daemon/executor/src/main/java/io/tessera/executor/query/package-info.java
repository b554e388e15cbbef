/** QUERY records: what only the executor knows, and pinned memory. */
package io.tessera.executor.query;
