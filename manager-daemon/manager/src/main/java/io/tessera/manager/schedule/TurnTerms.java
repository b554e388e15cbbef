package io.tessera.manager.schedule;

/**
 * What goes with a turn.
 *
 * @param quantumNs     length of the turn in nanoseconds, for information; 0 outside exclusive turns
 * @param paceNs        bound on outstanding work as time to drain, in nanoseconds; 0: none
 * @param idleReleaseNs give the turn back after this long without work, in nanoseconds; 0: never
 * @param contended     somebody waits for the device
 * @param sample        the client samples whether the device is busy with its work
 */
public record TurnTerms(long quantumNs, long paceNs, long idleReleaseNs, boolean contended, boolean sample) {
    /** What goes with CLOSED. */
    static final TurnTerms NONE = new TurnTerms(0, 0, 0, false, false);

    private static final TurnTerms SAMPLED = new TurnTerms(0, 0, 0, false, true);

    /** What goes with FREE. */
    static TurnTerms free(boolean sample) {
        return sample ? SAMPLED : NONE;
    }

    /** What goes with GRANTED. */
    static TurnTerms granted(ScheduleSettings settings, ClientTurn client, long quantumNs, boolean contended,
            boolean sample) {
        long idleNs = client.idleReleaseNs == 0 ? settings.idleReleaseNs() : client.idleReleaseNs;
        return new TurnTerms(quantumNs, contended || client.paced ? settings.paceForNs(quantumNs) : 0,
                contended ? idleNs : 0, contended, sample);
    }
}
