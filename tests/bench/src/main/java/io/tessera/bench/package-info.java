/**
 * JMH benchmarks of the manager's hot paths: its work for every client in every duty cycle, without a GPU.
 *
 * <p>Run them with {@code tests/bench/run}.
 */
package io.tessera.bench;
