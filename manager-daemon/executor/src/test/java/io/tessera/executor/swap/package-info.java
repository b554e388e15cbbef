/** Tests of who leaves the device, and of the host memory for what has left. */
package io.tessera.executor.swap;
