/** Support for tests of several modules: processes with time limits, the build's outputs, stores that are killed while they write. */
package io.tessera.testing;
