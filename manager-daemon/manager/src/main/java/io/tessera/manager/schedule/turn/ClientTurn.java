package io.tessera.manager.schedule.turn;

/** One client in the turn lock: its orders, its answers, its requests. Owned by {@link TurnLock}. */
public final class ClientTurn {
    /** A turn that waits for memory is over when none has moved for this long: another client may have what it lacks. */
    static final long MEMORY_PATIENCE_NS = 10_000_000_000L;
    public static final long NEVER = Long.MIN_VALUE;

    /** A client counts as stopped if it was seen stopped twice in a row, so this is noticed within a second. */
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

    /** Whether it was told to stop and has answered: nothing of this client is on the device or can get there. */
    boolean quiet = true;

    /** Whether the grace of the present order to stop is over and was reported. */
    boolean reported;

    /** Whether its process was found stopped while it was told to stop: it is passed over until it answers. */
    private boolean absent;
    /** Time at which its process was last checked, and whether it was stopped then. */
    private long lookedNs = NEVER;
    private boolean seenStopped;

    /** Whether the last turn's time has still to be charged. */
    boolean inTurn;
    long grantedAtNs;
    long lengthNs;

    /** The length of a turn of average weight when this turn began, or a shorter one that was set since. */
    long quantumNs;

    /** Time until which the turn was charged. */
    long chargedUntilNs;

    /** Number of the grant of the last turn, to find the next client after a time without turns; 0 before the first. */
    long grantNumber;
    long formerGrantNumber;

    /** Time at which the last turn ended; {@link #NEVER} before. */
    long turnEndedNs = NEVER;

    /** Whether another client had the turn before: work is then bounded from the grant on, even if no client waits yet. */
    boolean paced;

    /** Whether its process was found stopped while it was to bring its memory. */
    private boolean stuck;

    /** The client's want word; 0: it does not wait. */
    long wantSinceNs;

    /** Whether it is kept off the device until further notice, because its memory is needed elsewhere. */
    boolean parked;

    /** Whether its memory can leave the device. Then a turn begins when the memory has come back: with the answer, not with the grant. */
    public boolean movable;

    /** Time without work after which a contended turn goes back; 0: as in the settings. */
    public long idleReleaseNs;

    /** Whether the present turn was answered by OPEN. */
    boolean opened;

    /** Time at which memory last moved since the grant. */
    long progressNs;

    /** Times from the former holder's answer to this client's OPEN, for its own turns. */
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

    /** Records that its gate is open; the time in which it waited for its memory is charged to no tenant. */
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
     * Returns when the turn may be ended for others. While memory comes, that is after {@code patienceNs} without a move, or at once if its process
     * is stopped, because only that process can move the memory.
     */
    long endsAtNs(long patienceNs) {
        return !awaitsMemory() ? grantedAtNs + lengthNs : stuck ? lookedNs : progressNs + patienceNs;
    }

    /** Returns whether it runs, waits, or had a turn within the last second. */
    boolean takesPart(long nowNs) {
        return inTurn || wantSinceNs != 0 || (turnEndedNs != NEVER && nowNs - turnEndedNs < TurnQueue.EXPECTED_NS);
    }

    /** Returns whether it was told to stop and has not answered yet. */
    boolean stopping() {
        return ordered == TurnState.CLOSED && !quiet;
    }

    /** Returns when something is due for a client that is to stop; {@link Long#MAX_VALUE}: it is not to stop. */
    long overdueNs(ScheduleSettings settings) {
        long graceNs = stopping() && !reported ? orderedAtNs + settings.graceNs() : Long.MAX_VALUE;
        return looks(settings) ? Math.min(graceNs, nextLookNs()) : graceNs;
    }

    /** Returns whether others wait for its process: to stop, or to bring its memory. */
    private boolean looks(ScheduleSettings settings) {
        return (stopping() || inTurn && awaitsMemory() && !stuck) && settings.drainPolicy() == DrainPolicy.EXTEND;
    }

    private long nextLookNs() {
        return Math.max(orderedAtNs, lookedNs) + LOOK_NS;
    }

    /**
     * Checks, if it is time, whether a client that is to stop cannot, because a signal has stopped its process. A stop of a client that awaits its
     * memory is noted first, which ends its turn.
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

    /** Records that it has answered. Returns whether it was passed over. */
    boolean answers() {
        boolean was = absent;
        absent = false;
        return was;
    }

    /** Returns whether it wants a turn and may get one. */
    boolean mayWait() {
        return wantSinceNs != 0 && !parked && !absent;
    }

    /** Returns the time of this turn that was not charged before, and marks it as charged; the wait for its memory is charged to no tenant. */
    long uncharged(long nowNs) {
        long usedNs = inTurn && !awaitsMemory() ? nowNs - chargedUntilNs : 0;
        chargedUntilNs = nowNs;
        return usedNs;
    }

    /** Shortens the turn to this length, if it began when turns were longer. A turn that was shortened by its tenant's debt stays shorter. */
    void shorten(long ns) {
        if (ns < quantumNs) {
            lengthNs = Math.max(1, (long) ((double) lengthNs * ns / quantumNs));
            quantumNs = ns;
        }
    }

    /** Removes the bound from a turn that lasted its length without a waiting client. */
    void uncontended(long nowNs) {
        paced &= nowNs - grantedAtNs < lengthNs;
    }

    /**
     * Returns the terms of the client's last order.
     *
     * @param accompanied whether there are other clients, which may ask at any time
     * @param freePaceNs  bound on outstanding work while all may run; 0: none
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
