package io.tessera.software.driver.context;

import io.tessera.software.clock.DeviceClock;
import io.tessera.software.driver.memory.DriverMemory;
import io.tessera.software.driver.work.Workers;

/**
 * Services that all contexts of a device use.
 *
 * @param memory  the device's memory
 * @param workers the threads
 * @param clock   the time of events
 */
public record Services(DriverMemory memory, Workers workers, DeviceClock clock) {
}
