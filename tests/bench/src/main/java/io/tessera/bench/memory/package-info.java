/**
 * The allocator inside a window under load: with JMH ({@link io.tessera.bench.memory.WindowHeapBenchmark}), and over
 * traces of programs ({@link io.tessera.bench.memory.Fragmentation}), which are generated or read from files.
 */
package io.tessera.bench.memory;
