/** A driver in memory, for tests of everything above it. */
package io.tessera.testing.driver;
