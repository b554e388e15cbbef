package io.tessera.manager.conductor;

import io.tessera.manager.schedule.DeviceScheduling;
import io.tessera.manager.schedule.turn.TurnPort;

/** Makes the scheduler of a device that a client announced first. */
@FunctionalInterface
public interface SchedulerFactory {
    /**
     * A scheduler for one device.
     *
     * @param totalBytes memory of the device as its first client said
     * @param port       where orders go and loads come from
     * @param nowNs      CLOCK_MONOTONIC nanoseconds
     */
    DeviceScheduling create(long totalBytes, TurnPort port, long nowNs);
}
