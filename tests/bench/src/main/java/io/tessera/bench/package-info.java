/**
 * JMH benchmarks of the manager's hot paths: what it does for every client in every duty cycle, without a GPU.
 *
 * <p>Run them with {@code tests/bench/run}.
 */
package io.tessera.bench;
