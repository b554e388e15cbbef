package io.tessera.manager.conductor;

import io.tessera.manager.schedule.DeviceScheduling;
import io.tessera.manager.schedule.turn.TurnPort;

/** Creates the scheduler of a device when a client first announces it. */
@FunctionalInterface
public interface SchedulerFactory {
    /**
     * Creates a scheduler for one device.
     *
     * @param totalBytes memory of the device, as its first client reported
     * @param port       destination of orders and source of loads
     * @param nowNs      CLOCK_MONOTONIC nanoseconds
     */
    DeviceScheduling create(long totalBytes, TurnPort port, long nowNs);
}
