/** Tests of how the driver is reached. */
package io.tessera.executor.driver;
