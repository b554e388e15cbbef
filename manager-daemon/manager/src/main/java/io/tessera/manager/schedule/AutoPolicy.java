package io.tessera.manager.schedule;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * {@link SchedulerMode#AUTO}: measures what the present clients get done in turns and running freely, and keeps to
 * the better. SCHEDULING.md describes the phases and where the constants come from.
 */
final class AutoPolicy implements SharingMode {
    private static final int BASELINE_SLICES = 5;
    private static final int TRIAL_SLICES = 3;
    private static final int MAX_SLICES = 20;
    private static final int TRIAL_ROUNDS = 3;
    private static final int MAX_ROUNDS = 8;

    /** A baseline whose rates are less sure than this is measured for longer, up to {@link #MAX_SLICES}. */
    private static final double BASELINE_ERROR = 0.02;

    /** Turns that reach less than this share of free running after one round are given up at once. */
    private static final double HOPELESS = 0.75;

    /** Memory has to fit with this much room before free running is considered again. */
    private static final double FITS_AGAIN = 0.95;

    /** A stretched quantum comes in steps, so that every allocation does not change everybody's terms. */
    private static final long STRETCH_STEP_NS = 100_000_000L;

    /** Blocked time is taken over the present window of this length and the one before it. */
    private static final long WINDOW_NS = 5_000_000_000L;

    private static final double GIB = 1L << 30;

    private enum Phase {
        /** Fewer than two active clients: free. */
        SOLO,
        /** Memory does not fit: turns. */
        OVERSUBSCRIBED,
        /** Free, and measured for a comparison. */
        BASELINE,
        /** Turns on trial, free running is what it has to beat. */
        TURNS_TRIAL,
        /** Free, decided. */
        FREE,
        /** Turns, decided. */
        TURNS,
        /** Free on trial, turns are what it has to beat. */
        FREE_TRIAL
    }

    /** The outcome of a comparison, for the status and for clients that pause and come back. */
    private record Decision(Set<Long> clients, boolean turns, ModeScore score, long atNs) {
    }

    private final AutoSettings settings;
    private final TurnPort port;
    private final long capacityBytes;
    private final Map<Long, ClientRates> clients = new LinkedHashMap<>();
    private final TrialBudget budget;

    private Phase phase = Phase.SOLO;
    private Set<Long> active = Set.of();
    private long usedBytes;
    private long phaseSinceNs;

    /** Begin of the present window of turns and of the one before; {@link ClientTurn#NEVER} before the first grant. */
    private long windowNs = ClientTurn.NEVER;
    private long windowBeforeNs = ClientTurn.NEVER;
    private long sliceFromNs;
    private long nextTickNs = Long.MAX_VALUE;
    private Decision decision;
    private boolean idleDevice;
    private double busiestShare;

    AutoPolicy(ScheduleSettings settings, TurnPort port, long nowNs) {
        this.settings = settings.auto();
        this.port = port;
        this.capacityBytes = settings.effectiveCapacityBytes();
        this.budget = new TrialBudget(this.settings, nowNs);
    }

    // Events

    @Override
    public void joined(long clientId, long nowNs) {
        clients.put(clientId, new ClientRates(clientId, port.load(clientId)));
        nextTickNs = Math.min(nextTickNs, nowNs);
    }

    @Override
    public void left(long clientId, long nowNs) {
        clients.remove(clientId);
        nextTickNs = Math.min(nextTickNs, nowNs);
    }

    @Override
    public void waits(long clientId, boolean waiting, long nowNs) {
        ClientRates client = clients.get(clientId);
        if (client != null) {
            client.waiting(waiting, nowNs);
            if (phase == Phase.TURNS_TRIAL) {
                judgeTurns(nowNs);
            }
        }
    }

    @Override
    public void turnStarted(long clientId, long nowNs) {
        if (windowNs == ClientTurn.NEVER) {
            // What passed since the change to turns was spent draining.
            clients.values().forEach(client -> client.turns.restartWindows(nowNs));
            windowNs = nowNs;
            windowBeforeNs = nowNs;
        }
        ClientRates client = clients.get(clientId);
        if (client != null) {
            client.turns.granted(port.load(clientId).submissions(), nowNs);
        }
    }

    @Override
    public void turnEnded(long clientId, long startedNs, long nowNs) {
        ClientRates client = clients.get(clientId);
        if (client == null) {
            return;
        }
        client.turns.drained(port.load(clientId).submissions(), nowNs);
        if (windowNs != ClientTurn.NEVER && nowNs - windowNs > WINDOW_NS) {
            clients.values().forEach(each -> each.turns.rotate(nowNs));
            windowBeforeNs = windowNs;
            windowNs = nowNs;
        }
        if (phase == Phase.TURNS_TRIAL) {
            judgeTurns(nowNs);
        }
    }

    // The duty cycle

    @Override
    public int doWork(long nowNs) {
        if (nowNs < nextTickNs) {
            return 0;
        }
        observe(nowNs);
        Set<Long> before = active;
        active = activeClients(nowNs);
        if (clients.size() >= 2 && oversubscribed()) {
            if (phase != Phase.OVERSUBSCRIBED) {
                breakOff(nowNs);
                enter(Phase.OVERSUBSCRIBED, nowNs);
            }
        } else if (active.size() < 2) {
            if (phase != Phase.SOLO) {
                breakOff(nowNs);
                enter(Phase.SOLO, nowNs);
            }
        } else if (phase == Phase.SOLO || phase == Phase.OVERSUBSCRIBED) {
            begin(nowNs);
        } else if (!active.equals(before)) {
            setChanged(nowNs);
        } else {
            tick(nowNs);
        }
        nextTickNs = nextTick(nowNs);
        return 1;
    }

    private void observe(long nowNs) {
        usedBytes = 0;
        for (ClientRates client : clients.values()) {
            client.observe(port.load(client.id), nowNs);
            usedBytes += client.usedBytes();
        }
    }

    private Set<Long> activeClients(long nowNs) {
        Set<Long> ids = new TreeSet<>();
        for (ClientRates client : clients.values()) {
            if (client.activeWithin(settings.activeWithinNs(), nowNs)) {
                ids.add(client.id);
            }
        }
        return ids;
    }

    private boolean oversubscribed() {
        if (capacityBytes == 0) {
            return false;
        }
        double bound = phase == Phase.OVERSUBSCRIBED ? FITS_AGAIN * capacityBytes : capacityBytes;
        return usedBytes > bound;
    }

    private long nextTick(long nowNs) {
        if (clients.size() < 2) {
            return Long.MAX_VALUE;
        }
        boolean measuring = phase == Phase.BASELINE || phase == Phase.FREE_TRIAL;
        if (measuring && nowNs < sliceFromNs) {
            return Math.min(sliceFromNs, nowNs + settings.observeNs());
        }
        return nowNs + (measuring ? settings.sliceNs() : settings.observeNs());
    }

    private void tick(long nowNs) {
        switch (phase) {
            case BASELINE -> {
                slice(nowNs);
                if (sliced(BASELINE_SLICES, BASELINE_ERROR)) {
                    compareWithTurns(nowNs);
                }
            }
            case FREE_TRIAL -> {
                slice(nowNs);
                if (sliced(TRIAL_SLICES, Double.POSITIVE_INFINITY)) {
                    judgeFree(nowNs);
                }
            }
            case FREE -> {
                slice(nowNs);
                keepFree(nowNs);
            }
            case TURNS -> keepTurns(nowNs);
            case TURNS_TRIAL -> {
                if (nowNs - phaseSinceNs > trialLimitNs()) {
                    clients.values().forEach(client -> client.turns.closeSample(nowNs));
                    measureTurns(nowNs);
                    concludeTurns(rounds() == 0 ? ModeScore.UNKNOWN : score(), nowNs);
                }
            }
            case SOLO, OVERSUBSCRIBED -> throw new IllegalStateException("no tick in " + phase);
        }
    }

    // Phases

    private void enter(Phase next, long nowNs) {
        boolean wasExclusive = exclusive();
        phase = next;
        phaseSinceNs = nowNs;
        if (exclusive() != wasExclusive) {
            if (exclusive()) {
                restartTurns(nowNs);
            } else {
                measureTurns(nowNs);
                clients.values().forEach(ClientRates::restartFree);
            }
            sliceFromNs = nowNs + settings.settleNs();
        } else if (next == Phase.BASELINE) {
            clients.values().forEach(ClientRates::restartFree);
            sliceFromNs = nowNs + settings.settleNs();
        }
        clients.values().forEach(ClientRates::forgetReference);
        nextTickNs = nextTick(nowNs);
    }

    /** Two or more clients are active again, or their memory fits again. */
    private void begin(long nowNs) {
        boolean known = decision != null && decision.clients().equals(active)
                && nowNs - decision.atNs() < settings.retrialMaxNs();
        if (known) {
            enter(decision.turns() ? Phase.TURNS : Phase.FREE, nowNs);
        } else {
            budget.restart(nowNs);
            enter(Phase.BASELINE, nowNs);
        }
    }

    private void setChanged(long nowNs) {
        breakOff(nowNs);
        budget.restart(nowNs);
        if (phase == Phase.FREE_TRIAL) {
            clients.values().forEach(ClientRates::restartFree);
            sliceFromNs = nowNs + settings.settleNs();
            phaseSinceNs = nowNs;
        } else if (phase == Phase.TURNS) {
            restartTurns(nowNs);
            clients.values().forEach(ClientRates::forgetReference);
        } else {
            enter(Phase.BASELINE, nowNs);
        }
    }

    /** Books a trial that ends without a result: half its time, as nobody knows. */
    private void breakOff(long nowNs) {
        if (phase == Phase.TURNS_TRIAL || phase == Phase.FREE_TRIAL) {
            budget.brokenOff((nowNs - phaseSinceNs) / 2, nowNs);
        }
    }

    private void compareWithTurns(long nowNs) {
        noteIdleness();
        enter(!idleDevice && budget.allows(nowNs) ? Phase.TURNS_TRIAL : Phase.FREE, nowNs);
    }

    private void keepFree(long nowNs) {
        noteIdleness();
        if (deviates(true)) {
            budget.restart(nowNs);
            enter(Phase.BASELINE, nowNs);
        } else if (!idleDevice && sliced(BASELINE_SLICES, Double.POSITIVE_INFINITY) && budget.allows(nowNs)) {
            enter(Phase.TURNS_TRIAL, nowNs);
        }
    }

    private void keepTurns(long nowNs) {
        if (deviates(false)) {
            budget.restart(nowNs);
            restartTurns(nowNs);
            clients.values().forEach(ClientRates::forgetReference);
        } else if (rounds() >= TRIAL_ROUNDS && budget.allows(nowNs)) {
            enter(Phase.FREE_TRIAL, nowNs);
        }
    }

    private void judgeTurns(long nowNs) {
        int rounds = rounds();
        measureTurns(nowNs);
        ModeScore score = score();
        boolean hopeless = rounds >= 1 && score.known() && score.ratio() < HOPELESS;
        boolean enough = rounds >= TRIAL_ROUNDS && score.decided(settings.marginShare());
        if (hopeless || enough || rounds >= MAX_ROUNDS) {
            concludeTurns(score, nowNs);
        }
    }

    private void concludeTurns(ModeScore score, long nowNs) {
        boolean turns = score.prefersTurns(settings.marginShare());
        long lossNs = score.known() ? (long) (Math.max(0, 1 - score.ratio()) * (nowNs - phaseSinceNs))
                : (nowNs - phaseSinceNs) / 2;
        conclude(turns, turns, lossNs, score, nowNs);
    }

    private void judgeFree(long nowNs) {
        ModeScore score = score();
        if (!score.decided(settings.marginShare()) && !sliced(MAX_SLICES, Double.POSITIVE_INFINITY)) {
            return;
        }
        boolean free = score.prefersFree(settings.marginShare());
        long lossNs = score.known() ? (long) (Math.max(0, 1 - 1 / score.ratio()) * (nowNs - phaseSinceNs))
                : (nowNs - phaseSinceNs) / 2;
        conclude(!free, free, lossNs, score, nowNs);
    }

    private void conclude(boolean turns, boolean changed, long lossNs, ModeScore score, long nowNs) {
        decision = new Decision(active, turns, score, nowNs);
        if (changed) {
            budget.won(nowNs);
        } else {
            budget.lost(lossNs, nowNs);
        }
        enter(turns ? Phase.TURNS : Phase.FREE, nowNs);
    }

    // Measurements

    private List<ClientRates> activeRates() {
        List<ClientRates> rates = new ArrayList<>();
        for (long id : active) {
            ClientRates client = clients.get(id);
            if (client != null) {
                rates.add(client);
            }
        }
        return rates;
    }

    private void slice(long nowNs) {
        if (nowNs >= sliceFromNs) {
            clients.values().forEach(client -> client.slice(nowNs));
        }
    }

    /** Whether every active client has so many samples of free running, sure enough; beyond the limit: just so many. */
    private boolean sliced(int slices, double relativeError) {
        for (ClientRates client : activeRates()) {
            int size = client.free.size();
            if (size < slices || (size < MAX_SLICES && client.free.relativeError() > relativeError)) {
                return false;
            }
        }
        return true;
    }

    /** Turns that every active client with something to do has had. */
    private int rounds() {
        int rounds = Integer.MAX_VALUE;
        for (ClientRates client : activeRates()) {
            if (client.turns.hasDemand()) {
                rounds = Math.min(rounds, client.turns.rate.size());
            }
        }
        return rounds == Integer.MAX_VALUE ? 0 : rounds;
    }

    private void restartTurns(long nowNs) {
        clients.values().forEach(client -> client.turns.restart(nowNs));
        windowNs = ClientTurn.NEVER;
        windowBeforeNs = ClientTurn.NEVER;
    }

    private void measureTurns(long nowNs) {
        if (windowBeforeNs != ClientTurn.NEVER) {
            clients.values().forEach(client -> client.turns.measure(nowNs - windowBeforeNs, nowNs));
        }
    }

    private ModeScore score() {
        return ModeScore.of(activeRates());
    }

    private boolean deviates(boolean free) {
        boolean deviates = false;
        for (ClientRates client : activeRates()) {
            deviates |= client.deviates(free ? client.free : client.turns.rate, settings.rateChangeShare());
        }
        return deviates;
    }

    private void noteIdleness() {
        busiestShare = 0;
        for (ClientRates client : activeRates()) {
            double share = client.busyShare();
            busiestShare = Double.isNaN(share) ? 1 : Math.max(busiestShare, share);
            if (Double.isNaN(share)) {
                break;
            }
        }
        idleDevice = busiestShare < settings.idleBusyShare();
    }

    private long trialLimitNs() {
        return Math.max(2_000_000_000L, 2L * MAX_ROUNDS * active.size() * settings.trialQuantumNs());
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
        return active.size() >= 2;
    }

    @Override
    public long turnQuantumNs(long setQuantumNs) {
        return switch (phase) {
            case TURNS_TRIAL -> Math.min(setQuantumNs, settings.trialQuantumNs());
            case OVERSUBSCRIBED -> Math.max(setQuantumNs, stretchedQuantumNs());
            default -> setQuantumNs;
        };
    }

    /** Long enough that bringing back what does not fit takes no more than the allowed share of the time. */
    private long stretchedQuantumNs() {
        double moveNs = 1e9 * Math.max(0, usedBytes - capacityBytes) / settings.moveBytesPerSecond();
        double quantumNs = moveNs * (1 - settings.moveShare()) / settings.moveShare();
        long wholeNs = (long) Math.ceil(quantumNs / STRETCH_STEP_NS) * STRETCH_STEP_NS;
        return Math.min(wholeNs, settings.stretchedQuantumMaxNs());
    }

    @Override
    public String reason(long nowNs) {
        return switch (phase) {
            case SOLO -> active.isEmpty() ? "running freely: no client is active"
                    : "running freely: only one client is active";
            case OVERSUBSCRIBED -> String.format(Locale.ROOT,
                    "turns: clients use %.1f GiB of %.1f GiB", usedBytes / GIB, capacityBytes / GIB);
            case BASELINE -> "running freely: measuring what " + active.size() + " active clients get done";
            case TURNS_TRIAL -> "turns: on trial against running freely";
            case FREE_TRIAL -> "running freely: on trial against turns";
            case FREE -> freeReason(nowNs);
            case TURNS -> decision == null ? "turns" : "turns: " + decision.score().turnsAgainstFree()
                    + " running freely, measured " + age(nowNs);
        };
    }

    private String freeReason(long nowNs) {
        if (idleDevice) {
            return String.format(Locale.ROOT,
                    "running freely: the device has idle time, the busiest client keeps it busy %.0f %% of the time",
                    100 * busiestShare);
        }
        if (decision == null) {
            return "running freely: trying turns would cost more than trials may";
        }
        return decision.score().known()
                ? "running freely: " + decision.score().freeAgainstTurns() + " in turns, measured " + age(nowNs)
                : "running freely: clients did not finish turns on trial, tried " + age(nowNs);
    }

    private String age(long nowNs) {
        return Math.max(0, nowNs - decision.atNs()) / 1_000_000_000L + " s ago";
    }
}
