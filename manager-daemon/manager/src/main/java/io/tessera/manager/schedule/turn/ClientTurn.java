package io.tessera.manager.schedule.turn;

/** One client in the turn lock: what it was told, what it answered, what it asks for. Owned by {@link TurnLock}. */
public final class ClientTurn {
    /** A turn that waits for memory is over when none has moved for this long: somebody else may have what it lacks. */
    static final long MEMORY_PATIENCE_NS = 10_000_000_000L;
    public static final long NEVER = Long.MIN_VALUE;

    /** Seen stopped twice in a row a client is stopped; so it is found within a second. */
    private static final long LOOK_NS = 500_000_000L;

    final long id;

    /** The number of its tenant in the queue. */
    final long tenant;

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

    /** The length of a turn of average weight when this one began, or a shorter one that was set since. */
    long quantumNs;

    /** Until when the turn was charged. */
    long chargedUntilNs;

    /** Number of the grant of the last turn, to find the next client after a time without turns; 0 before the first. */
    long grantNumber;
    long formerGrantNumber;

    /** When the last turn ended; {@link #NEVER} before. */
    long turnEndedNs = NEVER;

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

    ClientTurn(long id, long tenant) {
        this.id = id;
        this.tenant = tenant;
    }

    /** Begins a turn. */
    void granted(long number, long wholeNs, long turnNs, long nowNs) {
        inTurn = true;
        opened = false;
        stuck = false;
        progressNs = nowNs;
        grantedAtNs = nowNs;
        chargedUntilNs = nowNs;
        quantumNs = wholeNs;
        lengthNs = turnNs;
        formerGrantNumber = grantNumber;
        grantNumber = number;
    }

    /** Its gate is open; what it waited for its memory counts for nobody. */
    void opened(long nowNs) {
        if (!opened && movable) {
            grantedAtNs = nowNs;
            chargedUntilNs = nowNs;
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
        return inTurn || wantSinceNs != 0 || (turnEndedNs != NEVER && nowNs - turnEndedNs < TurnQueue.EXPECTED_NS);
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
     * Looks, if it is time to, whether a client that is to stop cannot, because a signal has stopped its process. A stop of a client that
     * awaits its memory is noted first, which ends its turn.
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

    /** The time of this turn that was not charged before, and is now; waiting for its memory counts for nobody. */
    long uncharged(long nowNs) {
        long usedNs = inTurn && !awaitsMemory() ? nowNs - chargedUntilNs : 0;
        chargedUntilNs = nowNs;
        return usedNs;
    }

    /** The turn is no longer than this from now on, if it began when turns were longer; less by what its tenant owes stays less. */
    void shorten(long ns) {
        if (ns < quantumNs) {
            lengthNs = Math.max(1, (long) ((double) lengthNs * ns / quantumNs));
            quantumNs = ns;
        }
    }

    /** A turn that lasted its length without anybody asking for it is paced no more. */
    void uncontended(long nowNs) {
        paced &= nowNs - grantedAtNs < lengthNs;
    }

    /**
     * The terms of the client's last order.
     *
     * @param accompanied whether there are others, which may ask at any time
     * @param freePaceNs  bound on outstanding work while everybody may run; 0: none
     */
    TurnTerms terms(ScheduleSettings settings, long quantumNs, boolean contended, boolean accompanied, boolean sample,
            long freePaceNs) {
        return switch (ordered) {
            case CLOSED -> TurnTerms.closed(terms);
            case FREE -> TurnTerms.free(sample, freePaceNs);
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
