/** The device's clock: the one place where the software GPU reads the time. */
package io.tessera.software.clock;
