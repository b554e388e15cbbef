/** Parts of the device's processors: tenants are kept off some of them, so that a tenant with little work does not wait for other tenants' kernels. */
package io.tessera.executor.part;
