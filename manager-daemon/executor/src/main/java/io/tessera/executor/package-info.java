/** The executor: owns the one context of a device, and makes the driver calls of clients without a context in it. */
package io.tessera.executor;
