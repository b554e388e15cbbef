package io.tessera.manager.schedule.turn;

/**
 * What a client may do and when it will run, as far as the scheduler knows; its memory is planned accordingly.
 *
 * @param quiet            it was told to stop and did: nothing of it is on the device or can get there
 * @param running          it may run, or was told that it may
 * @param nextTurnNs       when it is expected to run, on the scheduler's clock; {@link Long#MAX_VALUE}: unknown
 * @param lastTurnEndedNs  when its last turn ended; {@link Long#MIN_VALUE}: it had none
 * @param handoverLastNs   time of the last hand-over to it while it waited; 0: there was none
 * @param handoverMedianNs median of that over its last turns
 */
public record ClientOutlook(boolean quiet, boolean running, long nextTurnNs, long lastTurnEndedNs,
        long handoverLastNs, long handoverMedianNs) {
    /** The outlook of a client that is not on the device. */
    public static final ClientOutlook GONE = new ClientOutlook(true, false, Long.MAX_VALUE, Long.MIN_VALUE,
            0, 0);
}
