package io.tessera.manager.schedule.turn;

import java.util.Comparator;

/** One client in the turn lock: what it was told, what it answered, what it asks for. Owned by {@link TurnLock}. */
public final class ClientTurn {
    /** A turn that waits for memory is over when none has moved for this long: somebody else may have what it lacks. */
    static final long MEMORY_PATIENCE_NS = 10_000_000_000L;
    public static final long NEVER = Long.MIN_VALUE;

    /** Who is next after a time without turns. */
    static final Comparator<ClientTurn> LONGEST_AGO_FIRST = Comparator.comparingLong(client -> client.grantNumber);

    /** Seen stopped twice in a row a client is stopped; so it is found within a second. */
    private static final long LOOK_NS = 500_000_000L;

    /** The second over which fairness is promised. */
    private static final long TAKES_PART_NS = 1_000_000_000L;

    final long id;

    /** Epoch and state of the last turn word; a slot starts CLOSED at epoch 0, answered (SPEC.md, section 3). */
    long epoch;
    TurnState ordered = TurnState.CLOSED;
    long orderedAtNs;
    TurnTerms terms = TurnTerms.NONE;

    /** Epoch of the last GRANTED order: the one that an early release answers. */
    long grantEpoch = NEVER;

    /** Told to stop, and answered so: nothing of this client is on the device or can get there. */
    boolean quiet = true;

    /** The grace of the present order to stop is over and was reported. */
    boolean reported;

    /** Its process was found stopped while it was told to stop: it is passed over until it answers. */
    private boolean absent;
    /** When its process was last looked at, and whether it was stopped then. */
    private long lookedNs = NEVER;
    private boolean seenStopped;

    /** Whether the last turn's time has still to be booked. */
    boolean inTurn;
    long grantedAtNs;
    long lengthNs;

    /** The quantum that this turn was given by; {@link #lengthNs} is less by what the client owed. */
    long quantumNs;

    /** Number of the grant of the last turn, for who is next after a time without turns; 0 before the first. */
    long grantNumber;
    long formerGrantNumber;

    /** When the last turn ended; {@link #NEVER} before. */
    long turnEndedNs = NEVER;

    /** Since when somebody has been waiting during this turn; {@link #NEVER} while nobody does. */
    long contendedSinceNs = NEVER;

    /** Somebody else had the turn before: work is bounded from the grant on, although nobody waits yet. */
    boolean paced;

    /** Its process was found stopped while it was to bring its memory. */
    private boolean stuck;

    /** The client's want word; 0: it does not wait. */
    long wantSinceNs;

    /** Kept off the device until somebody says otherwise: its memory is wanted elsewhere. */
    boolean parked;

    /** Its memory can leave the device, so a turn begins when it has come back: with the answer, not with the grant. */
    public boolean movable;

    /** A contended turn goes back after this long without work; 0: as the settings say. */
    public long idleReleaseNs;

    /** The present turn was answered by OPEN. */
    boolean opened;

    /** When memory moved last since the grant. */
    long progressNs;

    /** From the former holder's answer to this client's OPEN, of its own turns. */
    final HandoverTimes handoverTimes = new HandoverTimes();

    ClientTurn(long id) {
        this.id = id;
    }

    /** Begins a turn, with others waiting for its end or not. */
    void granted(long number, long wholeNs, long turnNs, boolean contended, long nowNs) {
        inTurn = true;
        opened = false;
        stuck = false;
        progressNs = nowNs;
        grantedAtNs = nowNs;
        quantumNs = wholeNs;
        lengthNs = turnNs;
        formerGrantNumber = grantNumber;
        grantNumber = number;
        contendedSinceNs = contended ? nowNs : NEVER;
    }

    /** Its gate is open; what it waited for its memory counts for nobody. */
    void opened(long nowNs) {
        if (!opened && movable) {
            grantedAtNs = nowNs;
            contendedSinceNs = contendedSinceNs == NEVER ? NEVER : nowNs;
        }
        opened = true;
    }

    private boolean awaitsMemory() {
        return movable && !opened;
    }

    /**
     * When the turn may be ended for others; while memory comes, after {@code patienceNs} in which none came, or at once where its process is
     * stopped, which alone can move it.
     */
    long endsAtNs(long patienceNs) {
        return !awaitsMemory() ? grantedAtNs + lengthNs : stuck ? lookedNs : progressNs + patienceNs;
    }

    /** Whether it runs, waits, or had a turn within the last second. */
    boolean takesPart(long nowNs) {
        return inTurn || wantSinceNs != 0 || (turnEndedNs != NEVER && nowNs - turnEndedNs < TAKES_PART_NS);
    }

    /** Told to stop, and not yet answered. */
    boolean stopping() {
        return ordered == TurnState.CLOSED && !quiet;
    }

    /** When something is due for a client that is to stop; {@link Long#MAX_VALUE}: it is not. */
    long overdueNs(ScheduleSettings settings) {
        long graceNs = stopping() && !reported ? orderedAtNs + settings.graceNs() : Long.MAX_VALUE;
        return looks(settings) ? Math.min(graceNs, nextLookNs()) : graceNs;
    }

    /** Whether others wait for its process: to stop, or to bring its memory. */
    private boolean looks(ScheduleSettings settings) {
        return (stopping() || inTurn && awaitsMemory() && !stuck) && settings.drainPolicy() == DrainPolicy.EXTEND;
    }

    private long nextLookNs() {
        return Math.max(orderedAtNs, lookedNs) + LOOK_NS;
    }

    /**
     * Looks, if it is time to, whether a client that is to stop cannot, because a signal has stopped its process. Of one that awaits its memory
     * it is noted first, which ends its turn.
     */
    boolean isFoundStopped(ScheduleSettings settings, TurnPort port, long nowNs) {
        if (stopping() && stuck) {
            stuck = false;
            absent = port.isStopped(id);
            return absent;
        }
        if (!looks(settings) || nowNs < nextLookNs()) {
            return false;
        }
        boolean before = seenStopped && lookedNs > orderedAtNs;
        lookedNs = nowNs;
        seenStopped = port.isStopped(id);
        boolean found = before && seenStopped;
        absent = found && stopping();
        stuck = found && !stopping();
        return absent;
    }

    /** It has answered something. Returns whether it was passed over. */
    boolean answers() {
        boolean was = absent;
        absent = false;
        return was;
    }

    /** Whether it wants a turn and may get one. */
    boolean mayWait() {
        return wantSinceNs != 0 && !parked && !absent;
    }

    /**
     * The time of this turn that counts against the client: not what it held beyond its end while nobody waited.
     */
    long chargeableNs(long nowNs) {
        if (awaitsMemory()) {
            return 0;
        }
        long usedNs = nowNs - grantedAtNs;
        if (contendedSinceNs == NEVER) {
            return Math.min(usedNs, lengthNs);
        }
        return usedNs - Math.max(0, contendedSinceNs - (grantedAtNs + lengthNs));
    }

    /** Keeps account of since when this turn keeps somebody waiting; a turn that nobody asked for is paced no more. */
    void noteContention(boolean somebodyWaits, long nowNs) {
        if (!somebodyWaits) {
            contendedSinceNs = NEVER;
            paced &= nowNs - grantedAtNs < lengthNs;
        } else if (contendedSinceNs == NEVER) {
            contendedSinceNs = nowNs;
        }
    }

    /**
     * What goes with what the client was told last.
     *
     * @param accompanied there are others, who may ask at any time
     */
    TurnTerms terms(ScheduleSettings settings, long quantumNs, boolean contended, boolean accompanied, boolean sample) {
        return switch (ordered) {
            case CLOSED -> TurnTerms.closed(terms);
            case FREE -> TurnTerms.free(sample);
            case GRANTED -> granted(settings, quantumNs, contended, accompanied, sample);
        };
    }

    private TurnTerms granted(ScheduleSettings settings, long quantumNs, boolean contended, boolean accompanied,
            boolean sample) {
        long idleNs = idleReleaseNs == 0 ? settings.idleReleaseNs() : idleReleaseNs;
        long looseNs = accompanied ? settings.loosePaceNs(quantumNs) : 0;
        return new TurnTerms(quantumNs, contended || paced ? settings.paceForNs(quantumNs) : looseNs,
                contended ? idleNs : 0, contended, sample);
    }
}
