/** Tests of the tenants that leave the device, and of the host memory for what has left. */
package io.tessera.executor.swap;
