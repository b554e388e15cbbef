package io.tessera.manager.schedule.mode;

import io.tessera.manager.schedule.SchedulerMode;
import io.tessera.manager.schedule.turn.AutoSettings;
import io.tessera.manager.schedule.turn.ClientTurn;
import io.tessera.manager.schedule.turn.ScheduleSettings;
import io.tessera.manager.schedule.turn.TurnPort;
import java.util.Locale;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * {@link SchedulerMode#AUTO}: measures what the present clients get done in turns and running freely, and keeps the better mode. SCHEDULING.md
 * describes the phases and the sources of the constants.
 */
public final class AutoPolicy implements SharingMode {
    private static final int BASELINE_SLICES = 5;
    private static final int TRIAL_SLICES = 3;
    private static final int TRIAL_ROUNDS = 3;
    private static final int MAX_ROUNDS = 8;

    /** Relative error above which a baseline is measured for longer, up to {@link Measurements#MAX_SLICES}. */
    private static final double BASELINE_ERROR = 0.02;

    /** Turns that reach less than this share of free running after one round are ended at once. */
    private static final double HOPELESS = 0.75;

    /** One round shows that only for clients that submit often: with this many submissions, half a submission is 2.5 %. */
    private static final int HOPELESS_SUBMISSIONS = 20;

    /** Memory has to fit with this much room before free running is considered again. */
    private static final double FITS_AGAIN = 0.95;

    /** A round that began at most this long ago may still be called off: its first turn continues later, with the rest of its time. */
    private static final long JUST_BEGUN_NS = 5_000_000L;

    /** If no round ends (a client does not drain), a change of mode waits for this many of the longest rounds. */
    private static final int ROUNDS_WAITED = 2;

    private static final double GIB = 1L << 30;

    private enum Phase {
        /** Fewer than two active clients: free. */
        SOLO,
        /** Memory does not fit: turns. */
        OVERSUBSCRIBED,
        /** Free, and measured for a comparison. */
        BASELINE,
        /** Free, with bounded queues: a trial of turns is about to begin. */
        PACING,
        /** Turns on trial, compared with free running. */
        TURNS_TRIAL,
        /** Free, by decision. */
        FREE,
        /** Turns, by decision. */
        TURNS,
        /** Free on trial, compared with turns. */
        FREE_TRIAL
    }

    private final AutoSettings settings;
    private final long capacityBytes;
    private final LongSupplier handoverNs;
    private final Measurements measured;
    private final TrialBudget budget;
    private final TurnRound round = new TurnRound();

    private Phase phase = Phase.SOLO;
    private long phaseSinceNs;
    private long nextTickNs = Long.MAX_VALUE;
    private ModeDecision decision;
    private BusyShares busy = BusyShares.UNKNOWN;

    private MemoryVerdict memory = MemoryVerdict.UNPLANNED;

    /** Whether memory wished for turns when last checked. */
    private boolean wishKnown;

    /** Result of the trial of turns; takes effect at the end of a round. Null before. */
    private ModeScore verdict;

    /** Time since which a trial of free running waits for the end of a round; {@link ClientTurn#NEVER}: none waits. */
    private long trialWaitsSinceNs = ClientTurn.NEVER;

    /** The set length of turns when the scheduler last asked. */
    private long turnNs;

    private final TrialPreparation preparation = new TrialPreparation();
    private final TrialTurns trialTurns = new TrialTurns();

    /** Whether a client has had a turn in the present phase. */
    private boolean turned;

    /**
     * Creates a policy that has measured nothing yet.
     *
     * @param handoverNs returns the time that a hand-over takes; 0: there was none
     */
    public AutoPolicy(ScheduleSettings settings, TurnPort port, LongSupplier handoverNs, long nowNs) {
        this.settings = settings.auto();
        this.measured = new Measurements(this.settings, port);
        this.capacityBytes = settings.effectiveCapacityBytes();
        this.handoverNs = handoverNs;
        this.budget = new TrialBudget(this.settings, nowNs);
        this.turnNs = settings.quantumNs();
    }

    // Events

    @Override
    public void joined(long clientId, long nowNs) {
        measured.joined(clientId);
        nextTickNs = Math.min(nextTickNs, nowNs);
    }

    @Override
    public void left(long clientId, long nowNs) {
        measured.left(clientId);
        round.left(clientId);
        nextTickNs = Math.min(nextTickNs, nowNs);
    }

    @Override
    public void waits(long clientId, boolean waiting, long nowNs) {
        measured.waits(clientId, waiting, nowNs);
        round.waits(clientId, waiting);
        judgeTurns(nowNs);
        changeAfterRound(nowNs);
    }

    @Override
    public void turnStarted(long clientId, long nowNs) {
        turned = true;
        measured.turnStarted(clientId, nowNs);
        round.started(clientId, nowNs);
    }

    @Override
    public void turnEnded(long clientId, long startedNs, long nowNs) {
        measured.turnEnded(clientId, nowNs);
        round.ended(clientId);
        judgeTurns(nowNs);
        changeAfterRound(nowNs);
    }

    @Override
    public void memory(MemoryVerdict verdict, long nowNs) {
        boolean changed = verdict.turns() != memory.turns() || verdict.planned() != memory.planned()
                || verdict.must() != memory.must();
        memory = verdict;
        if (changed) { // otherwise the measurement continues undisturbed
            nextTickNs = Math.min(nextTickNs, nowNs);
        }
    }

    // The duty cycle

    @Override
    public int doWork(long nowNs) {
        if (nowNs < nextTickNs) {
            return 0;
        }
        Set<Long> before = measured.active();
        measured.observe(nowNs);
        Set<Long> active = measured.active();
        if (measured.joinedCount() >= 2 && oversubscribed()) {
            if (phase != Phase.OVERSUBSCRIBED) {
                breakOff(nowNs);
                enter(Phase.OVERSUBSCRIBED, nowNs);
            }
        } else if (active.size() < 2) {
            if (phase != Phase.SOLO) {
                breakOff(nowNs);
                enter(Phase.SOLO, nowNs);
            }
        } else if (phase == Phase.SOLO || phase == Phase.OVERSUBSCRIBED || wished() != wishKnown) {
            breakOff(nowNs);
            begin(nowNs);
        } else if (!active.equals(before)) {
            setChanged(nowNs);
        } else {
            tick(nowNs);
        }
        wishKnown = wished();
        nextTickNs = nextTick(nowNs);
        return 1;
    }

    /**
     * Returns whether memory wishes for turns. Memory that may stay where it is does so because of sizes alone. How much of it is in use is unknown,
     * so this is a guess: turns come first, and are compared with free running like any others.
     */
    private boolean wished() {
        return memory.turns() && !memory.must();
    }

    private boolean oversubscribed() {
        if (memory.planned() || capacityBytes == 0) {
            return memory.must();
        }
        double bound = phase == Phase.OVERSUBSCRIBED ? FITS_AGAIN * capacityBytes : capacityBytes;
        return measured.usedBytes() > bound;
    }

    private long nextTick(long nowNs) {
        if (measured.joinedCount() < 2) {
            return Long.MAX_VALUE;
        }
        if (phase == Phase.PACING) {
            return phaseSinceNs + preparation.lengthNs();
        }
        if (phase == Phase.TURNS_TRIAL && !turned) {
            return Math.max(nowNs + 1, phaseSinceNs + TrialPreparation.longestDrainNs(measured.active().size()));
        }
        boolean measuring = phase == Phase.BASELINE || phase == Phase.FREE_TRIAL;
        if (measuring && nowNs < measured.sliceFromNs()) {
            return Math.min(measured.sliceFromNs(), nowNs + settings.observeNs());
        }
        return nowNs + (measuring ? settings.sliceNs() : settings.observeNs());
    }

    private void tick(long nowNs) {
        switch (phase) {
            case BASELINE -> {
                measured.slice(nowNs);
                if (measured.sliced(BASELINE_SLICES, BASELINE_ERROR)) {
                    compareWithTurns(nowNs);
                }
            }
            case FREE_TRIAL -> {
                measured.slice(nowNs);
                if (measured.sliced(TRIAL_SLICES, Double.POSITIVE_INFINITY)) {
                    judgeFree(nowNs);
                }
            }
            case FREE -> {
                measured.slice(nowNs);
                keepFree(nowNs);
            }
            case TURNS -> keepTurns(nowNs);
            case PACING -> {
                if (nowNs - phaseSinceNs >= preparation.lengthNs()) {
                    enter(Phase.TURNS_TRIAL, nowNs);
                }
            }
            case TURNS_TRIAL -> {
                if (!turned) {
                    callOff(nowNs);
                } else if (nowNs - phaseSinceNs > trialLimitNs()) {
                    measured.closeTurns(nowNs);
                    measured.measureTurns(nowNs);
                    concludeTurns(measured.rounds() == 0 ? ModeScore.UNKNOWN : trialScore(), nowNs);
                }
            }
            case SOLO, OVERSUBSCRIBED -> throw new IllegalStateException("no tick in " + phase);
        }
    }

    // Phases

    private void enter(Phase next, long nowNs) {
        boolean wasExclusive = exclusive();
        phase = next;
        turned = false;
        phaseSinceNs = nowNs;
        verdict = null;
        trialWaitsSinceNs = ClientTurn.NEVER;
        if (exclusive() != wasExclusive) {
            round.restart();
            if (exclusive()) {
                trialTurns.begin();
                measured.restartTurns(nowNs);
            } else {
                measured.measureTurns(nowNs);
                measured.restartFree(nowNs);
            }
        } else if (next == Phase.BASELINE) {
            measured.restartFree(nowNs);
        }
        measured.forgetReferences();
        nextTickNs = nextTick(nowNs);
    }

    /** Begins when two or more clients are active again, or when their memory begins or ceases to fit. */
    private void begin(long nowNs) {
        boolean known = decision != null && decision.clients().equals(measured.active())
                && decision.wished() == wished() && nowNs - decision.atNs() < settings.retrialMaxNs();
        if (known) {
            enter(decision.turns() ? Phase.TURNS : Phase.FREE, nowNs);
        } else {
            budget.restart(nowNs);
            enterUnknown(nowNs);
        }
    }

    /** Enters a phase for unknown clients: turns if memory wishes for them, else free running. */
    private void enterUnknown(long nowNs) {
        if (wished()) {
            decision = null;
        }
        enter(wished() ? Phase.TURNS : Phase.BASELINE, nowNs);
    }

    private void setChanged(long nowNs) {
        breakOff(nowNs);
        budget.restart(nowNs);
        if (phase == Phase.FREE_TRIAL) {
            measured.restartFree(nowNs);
            phaseSinceNs = nowNs;
        } else if (phase == Phase.TURNS) {
            trialWaitsSinceNs = ClientTurn.NEVER;
            measured.restartTurns(nowNs);
            measured.forgetReferences();
        } else {
            enterUnknown(nowNs);
        }
    }

    /** Charges a trial that ends without a result: half its time, because its loss is unknown. */
    private void breakOff(long nowNs) {
        if (phase == Phase.TURNS_TRIAL || phase == Phase.FREE_TRIAL) {
            budget.brokenOff((nowNs - phaseSinceNs) / 2, nowNs);
        }
    }

    private void compareWithTurns(long nowNs) {
        enter(turnsMayGain() && budget.allows(nowNs) ? Phase.PACING : Phase.FREE, nowNs);
    }

    private void keepFree(long nowNs) {
        boolean mayGain = turnsMayGain();
        if (measured.deviates(true)) {
            budget.restart(nowNs);
            enterUnknown(nowNs);
        } else if (!wished() && mayGain && measured.sliced(BASELINE_SLICES, Double.POSITIVE_INFINITY) && budget.allows(nowNs)) {
            enter(Phase.PACING, nowNs);
        }
    }

    private void keepTurns(long nowNs) {
        if (trialWaitsSinceNs != ClientTurn.NEVER) {
            if (nowNs - trialWaitsSinceNs > ROUNDS_WAITED * measured.active().size() * turnNs) {
                enter(Phase.FREE_TRIAL, nowNs);
            }
        } else if (measured.deviates(false)) {
            budget.restart(nowNs);
            measured.restartTurns(nowNs);
            measured.forgetReferences();
        } else if (measured.rounds() >= TRIAL_ROUNDS && budget.allows(nowNs)) {
            trialWaitsSinceNs = nowNs;
            changeAfterRound(nowNs);
        }
    }

    /** Makes a change that waits for the end of a round, if a round is over: otherwise a client would have had one turn more. */
    private void changeAfterRound(long nowNs) {
        boolean waits = verdict != null || trialWaitsSinceNs != ClientTurn.NEVER;
        if (!waits || !round.over(JUST_BEGUN_NS, nowNs)) {
            return;
        }
        if (verdict != null) {
            concludeTurns(verdict, nowNs);
        } else {
            enter(Phase.FREE_TRIAL, nowNs);
        }
    }

    private void judgeTurns(long nowNs) {
        if (phase != Phase.TURNS_TRIAL || verdict != null) {
            return;
        }
        int rounds = measured.rounds();
        measured.measureTurns(nowNs);
        ModeScore score = trialScore();
        boolean hopeless = rounds >= 1 && score.known() && score.ratio() < HOPELESS
                && measured.countedInTurns(HOPELESS_SUBMISSIONS);
        boolean enough = rounds >= TRIAL_ROUNDS && score.decided(settings.marginShare());
        if (hopeless || enough || rounds >= MAX_ROUNDS) {
            verdict = score;
        } else {
            trialTurns.lengthen(measured, Math.min(turnNs, settings.trialQuantumNs()), nowNs);
        }
    }

    private ModeScore trialScore() {
        return measured.score(new ShortTurns(handoverNs.getAsLong(), turnQuantumNs(turnNs), turnNs));
    }

    /** Calls a trial off before its first turn, because the queues are too deep. */
    private void callOff(long nowNs) {
        if (nowNs - phaseSinceNs < TrialPreparation.longestDrainNs(measured.active().size())) {
            return;
        }
        breakOff(nowNs);
        preparation.wasTooShort();
        enter(Phase.FREE, nowNs);
    }

    private void concludeTurns(ModeScore score, long nowNs) {
        boolean turns = score.prefersTurns(settings.marginShare());
        long lossNs = score.known() ? (long) (Math.max(0, 1 - score.ratio()) * (nowNs - phaseSinceNs))
                : (nowNs - phaseSinceNs) / 2;
        conclude(turns, turns, lossNs, score, nowNs);
    }

    private void judgeFree(long nowNs) {
        ModeScore score = measured.score(ShortTurns.NONE);
        boolean asSureAsItGets = measured.sliced(Measurements.MAX_SLICES, Double.POSITIVE_INFINITY);
        if (!score.decided(settings.marginShare()) && !asSureAsItGets) {
            return;
        }
        // If memory wishes for turns, they save more than switches.
        boolean free = !turnsMayGain() && !wished() || score.prefersFree(settings.marginShare());
        long lossNs = score.known() ? (long) (Math.max(0, 1 - 1 / score.ratio()) * (nowNs - phaseSinceNs))
                : (nowNs - phaseSinceNs) / 2;
        conclude(!free, free, lossNs, score, nowNs);
    }

    private void conclude(boolean turns, boolean changed, long lossNs, ModeScore score, long nowNs) {
        decision = new ModeDecision(measured.active(), wished(), turns, score, nowNs);
        if (changed) {
            budget.won(nowNs);
        } else {
            budget.lost(lossNs, nowNs);
        }
        if (turns) {
            // A trial of free running also costs a second of unequal shares. Both modes were measured just now, so only a change that shows in no
            // rate can make it worth while: the longest back-off at once.
            budget.putOffLongest(nowNs);
        }
        enter(turns ? Phase.TURNS : Phase.FREE, nowNs);
    }

    private boolean turnsMayGain() {
        busy = measured.busyShares();
        return !busy.turnsCannotGain(settings.idleBusyShare());
    }

    private long trialLimitNs() {
        return Math.max(2_000_000_000L, 2L * MAX_ROUNDS * measured.active().size() * settings.trialQuantumNs());
    }

    // Answers

    @Override
    public long nextDeadlineNs() {
        return nextTickNs;
    }

    @Override
    public boolean exclusive() {
        return phase == Phase.OVERSUBSCRIBED || phase == Phase.TURNS_TRIAL || phase == Phase.TURNS;
    }

    @Override
    public boolean sample() {
        return measured.active().size() >= 2;
    }

    @Override
    public long freePaceNs() {
        return phase == Phase.PACING ? TrialPreparation.paceNs(measured.active().size()) : 0;
    }

    @Override
    public long turnQuantumNs(long setQuantumNs) {
        turnNs = setQuantumNs;
        return switch (phase) {
            case TURNS_TRIAL -> trialTurns.lengthNs(Math.min(setQuantumNs, settings.trialQuantumNs()));
            case OVERSUBSCRIBED ->
                memory.planned() ? setQuantumNs : Math.max(setQuantumNs, settings.stretchedQuantumNs(measured.usedBytes() - capacityBytes));
            default -> setQuantumNs;
        };
    }

    @Override
    public String reason(long nowNs) {
        return switch (phase) {
            case SOLO -> measured.active().isEmpty() ? "running freely: no client is active"
                    : "running freely: only one client is active";
            case OVERSUBSCRIBED -> memory.planned() ? "turns: " + memory.reason() : String.format(Locale.ROOT,
                    "turns: clients use %.1f GiB of %.1f GiB", measured.usedBytes() / GIB, capacityBytes / GIB);
            case BASELINE -> "running freely: measuring what " + measured.active().size()
                    + " active clients get done";
            case PACING -> "running freely: turns are about to be tried";
            case TURNS_TRIAL -> "turns: on trial against running freely";
            case FREE_TRIAL -> "running freely: on trial against turns";
            case FREE -> freeReason(nowNs) + wish();
            case TURNS -> decision == null ? "turns: " + memory.reason() + ", to be compared with running freely"
                    : decision.turnsReason(nowNs) + wish();
        };
    }

    private String wish() {
        return wished() ? "; " + memory.reason() : "";
    }

    private String freeReason(long nowNs) {
        if (busy.turnsCannotGain(settings.idleBusyShare())) {
            return busy.reason(settings.idleBusyShare());
        }
        return decision == null ? "running freely: trying turns would cost more than trials may" : decision.freeReason(nowNs);
    }
}
