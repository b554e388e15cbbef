/** What tests of several modules share: processes with bounds, the build's outputs, stores that are killed while they write. */
package io.tessera.testing;
