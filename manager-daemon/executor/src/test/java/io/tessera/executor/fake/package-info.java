/** What executors get in tests in the place of a driver and of shared memory. */
package io.tessera.executor.fake;
