package io.tessera.manager.schedule.turn;

/**
 * A client's cumulative load on one device, read from its segment.
 *
 * @param submissions launches, graph launches, copies, memsets and the other submissions so far
 * @param busySamples samples that found the device busy with this client's work
 * @param samples     samples so far
 * @param usedBytes   device memory that counts against the tenant's limit
 * @param capturing   stream captures open now
 */
public record ClientLoad(long submissions, long busySamples, long samples, long usedBytes, long capturing) {
}
