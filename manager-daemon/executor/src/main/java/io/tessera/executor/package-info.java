/** The executor: owns the one context of a device and runs in it what clients without a context ask for. */
package io.tessera.executor;
