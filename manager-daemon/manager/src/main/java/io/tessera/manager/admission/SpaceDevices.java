package io.tessera.manager.admission;

import java.util.List;

/**
 * The devices that programs in space sharing see. Immutable.
 *
 * @param settled  whether no executor is on its way; else more devices may come
 * @param software whether all are software GPUs
 * @param devices  in the order of their executors
 * @param reason   why there are none; empty: there are
 */
public record SpaceDevices(boolean settled, boolean software, List<CandidateDevice> devices, String reason) {
}
