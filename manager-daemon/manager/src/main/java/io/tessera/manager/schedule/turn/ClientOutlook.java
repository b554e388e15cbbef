package io.tessera.manager.schedule.turn;

/**
 * What a client may do and when it will run, as far as the scheduler knows: what its memory is planned by.
 *
 * @param quiet            it was told to stop and has: nothing of it is on the device or can get there
 * @param running          it may run, or was told that it may
 * @param nextTurnNs       when it is expected to run, on the scheduler's clock; {@link Long#MAX_VALUE}: nobody knows
 * @param lastTurnEndedNs  when its last turn ended; {@link Long#MIN_VALUE}: it had none
 * @param handoverLastNs   how long its last turn took to come to it while it waited; 0: no turn did
 * @param handoverMedianNs median of that over its last turns
 */
public record ClientOutlook(boolean quiet, boolean running, long nextTurnNs, long lastTurnEndedNs,
        long handoverLastNs, long handoverMedianNs) {
    /** The outlook of a client that is not on the device. */
    public static final ClientOutlook GONE = new ClientOutlook(true, false, Long.MAX_VALUE, Long.MIN_VALUE,
            0, 0);
}
