/** Tests of tenants' windows over a driver that is all rules and no device. */
package io.tessera.executor.window;
