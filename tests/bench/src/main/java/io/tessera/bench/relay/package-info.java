/** Benchmarks of the executor: records from the ring to a driver that returns at once. */
package io.tessera.bench.relay;
