package io.tessera.manager.admission;

import java.util.List;

/**
 * The devices that programs in space sharing see. Immutable.
 *
 * @param settled  true if no executor is starting; otherwise more devices may come
 * @param software whether all are software GPUs
 * @param devices  devices in the order of their executors
 * @param reason   why there are none; empty if there are some
 */
public record SpaceDevices(boolean settled, boolean software, List<CandidateDevice> devices, String reason) {
}
