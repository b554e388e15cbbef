/** What the benchmarks of records measure is what they say. */
package io.tessera.bench.relay;
