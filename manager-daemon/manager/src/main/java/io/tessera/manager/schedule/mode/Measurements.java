package io.tessera.manager.schedule.mode;

import io.tessera.manager.schedule.turn.AutoSettings;
import io.tessera.manager.schedule.turn.ClientTurn;
import io.tessera.manager.schedule.turn.TurnPort;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Measurements by {@link AutoPolicy} of the clients of its device. Not thread-safe. */
final class Measurements {
    /** Maximum number of samples: an estimate that is still uncertain does not become better by more of them. */
    static final int MAX_SLICES = 20;

    /** Blocked time is taken over the present window of this length and the one before it. */
    private static final long WINDOW_NS = 5_000_000_000L;

    private final AutoSettings settings;
    private final TurnPort port;
    private final Map<Long, ClientRates> clients = new LinkedHashMap<>();
    private Set<Long> active = Set.of();
    private long usedBytes;
    private long sliceFromNs;

    /** Begin of the present window of turns and of the one before; {@link ClientTurn#NEVER} before the first grant. */
    private long windowNs = ClientTurn.NEVER;
    private long windowBeforeNs = ClientTurn.NEVER;

    Measurements(AutoSettings settings, TurnPort port) {
        this.settings = settings;
        this.port = port;
    }

    // Clients

    void joined(long clientId) {
        clients.put(clientId, new ClientRates(clientId, port.load(clientId)));
    }

    void left(long clientId) {
        clients.remove(clientId);
    }

    void waits(long clientId, boolean waiting, long nowNs) {
        ClientRates client = clients.get(clientId);
        if (client != null) {
            client.waiting(waiting, nowNs);
        }
    }

    /** Reads all loads, and finds the active clients. */
    void observe(long nowNs) {
        usedBytes = 0;
        Set<Long> ids = new TreeSet<>();
        for (ClientRates client : clients.values()) {
            client.observe(port.load(client.id), nowNs);
            usedBytes += client.usedBytes();
            if (client.activeWithin(settings.activeWithinNs(), nowNs)) {
                ids.add(client.id);
            }
        }
        active = ids;
    }

    int joinedCount() {
        return clients.size();
    }

    /** Returns the clients that were active at the last observation. */
    Set<Long> active() {
        return active;
    }

    /** Returns the device memory in use at the last observation. */
    long usedBytes() {
        return usedBytes;
    }

    private Collection<ClientRates> activeRates() {
        List<ClientRates> rates = new ArrayList<>();
        for (long id : active) {
            ClientRates client = clients.get(id);
            if (client != null) {
                rates.add(client);
            }
        }
        return rates;
    }

    // Turns

    void turnStarted(long clientId, long nowNs) {
        if (windowNs == ClientTurn.NEVER) {
            // The time since the change to turns was spent on draining.
            clients.values().forEach(client -> client.turns.restartWindows(nowNs));
            windowNs = nowNs;
            windowBeforeNs = nowNs;
        }
        ClientRates client = clients.get(clientId);
        if (client != null) {
            client.turns.granted(port.load(clientId).submissions(), nowNs);
        }
    }

    void turnEnded(long clientId, long nowNs) {
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
    }

    /** Forgets what was measured in turns. */
    void restartTurns(long nowNs) {
        clients.values().forEach(client -> client.turns.restart(nowNs));
        windowNs = ClientTurn.NEVER;
        windowBeforeNs = ClientTurn.NEVER;
    }

    /** Evaluates the turns so far. */
    void measureTurns(long nowNs) {
        if (windowBeforeNs != ClientTurn.NEVER) {
            clients.values().forEach(client -> client.turns.measure(nowNs - windowBeforeNs, nowNs));
        }
    }

    /** Ends samples that would last until their clients are blocked again. */
    void closeTurns(long nowNs) {
        clients.values().forEach(client -> client.turns.closeSample(nowNs));
    }

    /** Returns the number of turns that every active client with work has had. */
    int rounds() {
        int rounds = Integer.MAX_VALUE;
        for (ClientRates client : activeRates()) {
            if (client.turns.hasDemand()) {
                rounds = Math.min(rounds, client.turns.rate.size());
            }
        }
        return rounds == Integer.MAX_VALUE ? 0 : rounds;
    }

    /** Returns whether every active client that had turns submitted at least this many times in them. */
    boolean countedInTurns(long submissions) {
        for (ClientRates client : activeRates()) {
            if (client.turns.rate.size() > 0 && client.turns.rate.counted() < submissions) {
                return false;
            }
        }
        return true;
    }

    /** Returns the mean length of the turns of the active client whose turns are shortest; 0 if a client had none. */
    double shortestHeldNs() {
        return activeRates().stream().mapToDouble(client -> client.turns.meanHeldNs()).min().orElse(0);
    }

    // Running freely

    /** Forgets what was measured in free running; measures again once the queues have had time to fill. */
    void restartFree(long nowNs) {
        clients.values().forEach(ClientRates::restartFree);
        sliceFromNs = nowNs + settings.settleNs();
    }

    /** Returns the time from which samples of free running are taken. */
    long sliceFromNs() {
        return sliceFromNs;
    }

    /** Ends a sample of free running at the last observation, and begins the next. */
    void slice(long nowNs) {
        if (nowNs >= sliceFromNs) {
            clients.values().forEach(client -> client.slice(nowNs));
        }
    }

    /**
     * Returns whether every active client has at least this many samples of free running and a rate of the required accuracy, or has {@link
     * #MAX_SLICES}.
     */
    boolean sliced(int slices, double relativeError) {
        for (ClientRates client : activeRates()) {
            int size = client.free.size();
            if (size < slices || (size < MAX_SLICES && client.free.relativeError() > relativeError)) {
                return false;
            }
        }
        return true;
    }

    /** Returns the shares of the time in which clients keep the device busy. */
    BusyShares busyShares() {
        return BusyShares.of(activeRates());
    }

    // Both

    ModeScore score(ShortTurns measuredIn) {
        return ModeScore.of(activeRates(), measuredIn);
    }

    void forgetReferences() {
        clients.values().forEach(ClientRates::forgetReference);
    }

    /** Returns whether an active client's rate in the present mode has changed. */
    boolean deviates(boolean free) {
        boolean deviates = false;
        for (ClientRates client : activeRates()) {
            deviates |= client.deviates(free ? client.free : client.turns.rate, settings.rateChangeShare());
        }
        return deviates;
    }
}
