/** A driver in memory, for tests of everything above it. */
package io.tessera.executor.fake;
