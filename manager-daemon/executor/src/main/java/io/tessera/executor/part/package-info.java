/** Parts of the device's processors: tenants are kept off some of them, so that a tenant with little work waits for nobody's kernels. */
package io.tessera.executor.part;
