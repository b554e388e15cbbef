package io.tessera.manager.schedule.turn;

import io.tessera.policy.TenantTerms;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Consumer;

/**
 * The lock of one device: decides which clients may run, have to stop, or wait.
 *
 * <p>While it is exclusive, at most one client is GRANTED. A grant is written only when every other client was told CLOSED and has answered, gave its
 * turn back, or is gone. While it is not exclusive, all clients are FREE. {@link TurnQueue} decides which waiting client is next. Pure state machine:
 * events in, orders out through the port; nothing happens between calls. Events only record; {@link #advance} acts on them. Not thread-safe.
 */
public final class TurnLock {

    /** Debts are dropped after free running of this length: several times that of the longest ordinary trial. */
    private static final long DEBTS_KEPT_NS = 10_000_000_000L;

    private final ScheduleSettings settings;
    private final TurnPort port;
    private final TurnObserver observer;
    private final Map<Long, ClientTurn> clients = new LinkedHashMap<>();
    private final TurnQueue queue;
    private final Handovers handovers = new Handovers();

    private boolean exclusive;
    private long freeSinceNs;
    private long grants;
    private boolean sampling;
    private long freePaceNs;
    private long quantumNs;
    private ClientTurn holder;

    /** Time until which clients that could not drain run together; {@link ClientTurn#NEVER} if there is none. */
    private long extensionEndsNs = ClientTurn.NEVER;

    /** Creates a lock without clients, in which all may run. */
    public TurnLock(ScheduleSettings settings, TurnPort port, TurnObserver observer) {
        this.settings = settings;
        this.port = port;
        this.observer = observer;
        this.quantumNs = settings.quantumNs();
        this.queue = new TurnQueue(quantumNs);
    }

    // Events

    /** Adds a client; returns whether it is new. It is CLOSED until {@link #advance}. */
    public boolean joined(long clientId, String tenant, TenantTerms terms, long nowNs) {
        if (clients.containsKey(clientId)) {
            return false;
        }
        clients.put(clientId, queue.joined(clientId, tenant, terms, nowNs));
        return true;
    }

    /** Removes a client; its turn, if it had one, is over. */
    public void left(long clientId, long nowNs) {
        ClientTurn client = clients.remove(clientId);
        if (client == null) {
            return;
        }
        queue.left(client, nowNs);
        if (client.inTurn) {
            noteHandover(client, nowNs);
        }
        if (holder == client) {
            holder = null;
        }
    }

    /** Sets since when a client waits for its turn; 0: it does not wait. */
    public void wants(long clientId, long sinceNs, long nowNs) {
        ClientTurn client = clients.get(clientId);
        if (client == null) {
            return;
        }
        client.wantSinceNs = sinceNs;
        if (sinceNs == 0) {
            queue.remove(client, nowNs);
        }
        queueIfWaiting(client, nowNs);
    }

    /**
     * Handles an answer. Answers of older epochs say nothing about the present order, except that an early release also answers an order to stop that
     * was sent at the same time. Anything else that the protocol does not allow is not an answer.
     */
    public void acknowledged(long clientId, long epoch, AckState state, long nowNs) {
        ClientTurn client = clients.get(clientId);
        if (client == null) {
            return;
        }
        if (client.answers()) {
            queueIfWaiting(client, nowNs);
        }
        boolean current = epoch == client.epoch;
        switch (state) {
            case CLOSED -> {
                if (current && client.ordered == TurnState.CLOSED) {
                    becomeQuiet(client, nowNs);
                }
            }
            case RELEASED -> released(client, epoch, nowNs);
            case OPEN, DRAINING -> {
                if (current && client.ordered == TurnState.CLOSED && client.quiet) {
                    // The client withdraws its answer, for example because it lost sight of the manager: no other client may start until it has
                    // stopped again.
                    client.quiet = false;
                    client.orderedAtNs = nowNs;
                    client.reported = false;
                }
                if (current && state == AckState.OPEN && client == holder) {
                    client.opened(nowNs);
                    handovers.answered(client, nowNs);
                }
            }
        }
    }

    private void released(ClientTurn client, long epoch, long nowNs) {
        if (epoch != client.grantEpoch) {
            return;
        }
        if (client == holder) {
            holder = null;
            becomeQuiet(client, nowNs);
            order(client, TurnState.CLOSED, nowNs);
            queueIfWaiting(client, nowNs);
        } else if (client.ordered == TurnState.CLOSED && client.epoch == epoch + 1) {
            becomeQuiet(client, nowNs);
        }
    }

    private void becomeQuiet(ClientTurn client, long nowNs) {
        client.quiet = true;
        if (client.inTurn) {
            queue.ended(client, nowNs);
            noteHandover(client, nowNs);
            observer.turnEnded(client.id, client.grantedAtNs, nowNs);
        }
    }

    private void noteHandover(ClientTurn client, long nowNs) {
        client.inTurn = false;
        client.turnEndedNs = nowNs;
        handovers.ended(client.id, !queue.isEmpty(), nowNs);
    }

    /** Keeps the client off the device, or lets it back. */
    public void parked(long clientId, boolean parked, long nowNs) {
        change(clientId, client -> {
            client.parked = parked;
            if (parked) {
                queue.remove(client, nowNs);
            }
            queueIfWaiting(client, nowNs);
        });
    }

    /** Changes a value that the lock only reads. */
    public void change(long clientId, Consumer<ClientTurn> change) {
        ClientTurn client = clients.get(clientId);
        if (client != null) {
            change.accept(client);
        }
    }

    /** Records that memory moved: a client that waits for its own may continue to wait. */
    public void moved(long nowNs) {
        if (holder != null) {
            holder.progressNs = nowNs;
        }
    }

    // Settings

    /** Makes clients take turns, or run freely, from now on. */
    public void exclusive(boolean takeTurns, long nowNs) {
        if (takeTurns == exclusive) {
            return;
        }
        exclusive = takeTurns;
        extensionEndsNs = ClientTurn.NEVER;
        handovers.forget();
        if (exclusive) {
            if (nowNs - freeSinceNs > DEBTS_KEPT_NS) {
                queue.renew(nowNs);
            }
            closeFree(nowNs);
        } else {
            freeSinceNs = nowNs;
            if (holder != null && !queue.isEmpty()) {
                holder.grantNumber = holder.formerGrantNumber; // its turn is continued later; a draining one is over
            }
            queue.suspend(holder, nowNs);
            free(nowNs);
        }
    }

    /** Returns the queue of waiting clients, for its settings. */
    public TurnQueue queue() {
        return queue;
    }

    /** Sets whether turns are granted with sampling. */
    public void sampling(boolean sample) {
        sampling = sample;
    }

    /** Sets the bound on what clients queue while all may run, as time to drain; 0: no bound. */
    public void freePaceNs(long ns) {
        freePaceNs = ns;
    }

    /** Sets the quantum from the next turn on; the running turn gets shorter, never longer. */
    public void quantumNs(long ns) {
        quantumNs = ns;
        queue.quantumNs(ns);
        if (holder != null) {
            holder.shorten(ns);
        }
    }

    /** Returns how many clients take turns: those that run, wait, or had a turn within the last second. */
    public int takingPart(long nowNs) {
        return (int) clients.values().stream().filter(client -> client.takesPart(nowNs)).count();
    }

    /** Returns the length of a whole turn now. */
    public long quantumNs() {
        return quantumNs;
    }

    // What follows from them

    /** Writes the orders that the present state requires; returns their number. */
    public int advance(long nowNs) {
        int orders = 0;
        if (exclusive) {
            queue.advance(holder, nowNs);
            if (holder != null && queue.isEmpty()) {
                holder.uncontended(nowNs);
            }
            orders += endExtension(nowNs);
            orders += revoke(nowNs);
            passOverStopped(nowNs);
            orders += graceOver(nowNs);
            orders += grant(nowNs);
        } else {
            orders += free(nowNs);
        }
        return orders + amendTerms();
    }

    /** Returns when {@link #advance} has work without a new event. */
    public long nextDeadlineNs() {
        long deadlineNs = Long.MAX_VALUE;
        if (!exclusive) {
            return deadlineNs;
        }
        if (extensionEndsNs != ClientTurn.NEVER) {
            deadlineNs = extensionEndsNs;
        }
        if (holder != null && !queue.isEmpty()) {
            deadlineNs = Math.min(deadlineNs, holder.endsAtNs(ClientTurn.MEMORY_PATIENCE_NS));
        }
        if (holder != null || allQuiet()) {
            deadlineNs = Math.min(deadlineNs, queue.nextDeadlineNs(holder));
        }
        for (ClientTurn client : clients.values()) {
            deadlineNs = Math.min(deadlineNs, client.overdueNs(settings));
        }
        return deadlineNs;
    }

    private int free(long nowNs) {
        int orders = 0;
        if (holder != null) {
            // This comes first, so that it is never GRANTED beside a running client.
            ClientTurn former = holder;
            holder = null;
            former.inTurn = false;
            order(former, former.parked ? TurnState.CLOSED : TurnState.FREE, nowNs);
            orders++;
        }
        for (ClientTurn client : clients.values()) {
            TurnState state = client.parked ? TurnState.CLOSED : TurnState.FREE;
            if (client.ordered != state) {
                client.inTurn = false;
                order(client, state, nowNs);
                orders++;
            }
        }
        return orders;
    }

    private int closeFree(long nowNs) {
        int orders = 0;
        for (ClientTurn client : clients.values()) {
            if (client.ordered == TurnState.FREE) {
                order(client, TurnState.CLOSED, nowNs);
                queueIfWaiting(client, nowNs);
                orders++;
            }
        }
        return orders;
    }

    private int revoke(long nowNs) {
        if (holder == null) {
            return 0;
        }
        boolean over = !queue.isEmpty() && nowNs >= holder.endsAtNs(ClientTurn.MEMORY_PATIENCE_NS);
        if (!over && !holder.parked && !queue.endsEarly(holder, nowNs)) {
            return 0;
        }
        ClientTurn former = holder;
        holder = null;
        order(former, TurnState.CLOSED, nowNs);
        queueIfWaiting(former, nowNs);
        return 1;
    }

    private int grant(long nowNs) {
        if (holder != null || queue.isEmpty() || !allQuiet()) {
            return 0;
        }
        TurnQueue.Next next = queue.next(nowNs);
        if (next == null) {
            return 0;
        }
        grantTo(next.client(), next.lengthNs(), nowNs);
        return 1;
    }

    private boolean allQuiet() {
        return clients.values().stream().allMatch(client -> client.quiet);
    }

    private void grantTo(ClientTurn client, long lengthNs, long nowNs) {
        holder = client;
        client.granted(++grants, quantumNs, lengthNs, nowNs);
        client.paced = handovers.granted(client.id); // a former holder will ask again within the first milliseconds
        order(client, TurnState.GRANTED, nowNs);
        client.grantEpoch = client.epoch;
        observer.turnStarted(client.id, nowNs);
    }

    // Clients that do not drain

    /** Passes over a client whose process a signal has stopped, because it will not drain: the others continue without it, until it answers. */
    private void passOverStopped(long nowNs) {
        for (ClientTurn client : clients.values()) {
            if (client.isFoundStopped(settings, port, nowNs)) {
                queue.remove(client, nowNs);
                becomeQuiet(client, nowNs);
                port.reportStopped(client.id);
            }
        }
    }

    private int graceOver(long nowNs) {
        int done = 0;
        boolean allOverdue = true;
        List<ClientTurn> overdue = new ArrayList<>();
        // A copy: ending a client may come back as left() before this loop is over.
        for (ClientTurn client : List.copyOf(clients.values())) {
            if (!client.stopping()) {
                continue;
            }
            if (nowNs - client.orderedAtNs < settings.graceNs()) {
                allOverdue = false;
                continue;
            }
            overdue.add(client);
            if (!client.reported) {
                client.reported = true;
                port.reportUndrained(client.id, client.orderedAtNs);
                if (settings.drainPolicy() == DrainPolicy.END) {
                    port.end(client.id);
                }
                done++;
            }
        }
        boolean extendable = settings.drainPolicy() == DrainPolicy.EXTEND && allOverdue && holder == null
                && extensionEndsNs == ClientTurn.NEVER;
        return !overdue.isEmpty() && extendable ? done + extend(overdue, nowNs) : done;
    }

    /**
     * Lets clients that cannot stop run on for a quantum. A single one is granted a whole quantum, whatever its debt. Several can only result from a
     * change to exclusive turns. None of them could be granted before the others have stopped, so they run together.
     */
    private int extend(List<ClientTurn> stuck, long nowNs) {
        if (stuck.size() == 1) {
            ClientTurn client = stuck.getFirst();
            queue.charge(client, nowNs);
            queue.begins(client);
            grantTo(client, quantumNs, nowNs);
            return 1;
        }
        extensionEndsNs = nowNs + quantumNs;
        for (ClientTurn client : stuck) {
            queue.ended(client, nowNs);
            client.inTurn = false;
            queue.remove(client, nowNs);
            order(client, TurnState.FREE, nowNs);
        }
        return stuck.size();
    }

    private int endExtension(long nowNs) {
        if (extensionEndsNs == ClientTurn.NEVER || nowNs < extensionEndsNs) {
            return 0;
        }
        extensionEndsNs = ClientTurn.NEVER;
        return closeFree(nowNs);
    }

    // Orders and terms

    private void order(ClientTurn client, TurnState state, long nowNs) {
        client.epoch++;
        client.ordered = state;
        client.orderedAtNs = nowNs;
        client.reported = false;
        if (state != TurnState.CLOSED) {
            client.quiet = false;
        }
        client.terms = termsOf(client);
        port.order(client.id, client.epoch, state, client.terms);
    }

    private void queueIfWaiting(ClientTurn client, long nowNs) {
        if (exclusive && client.mayWait() && client.ordered == TurnState.CLOSED) {
            queue.add(client, holder, nowNs);
        }
    }

    private TurnTerms termsOf(ClientTurn client) {
        return client.terms(settings, quantumNs, !queue.isEmpty(), clients.size() > 1, sampling, freePaceNs);
    }

    private int amendTerms() {
        int amended = 0;
        for (ClientTurn client : clients.values()) {
            TurnTerms terms = termsOf(client);
            if (!terms.equals(client.terms)) {
                client.terms = terms;
                port.amend(client.id, terms);
                amended++;
            }
        }
        return amended;
    }

    // What others may know

    /** Returns whether clients take turns. */
    public boolean isExclusive() {
        return exclusive;
    }

    /** Returns the client that has the turn; empty if none has it or clients run freely. */
    public OptionalLong holder() {
        return holder == null ? OptionalLong.empty() : OptionalLong.of(holder.id);
    }

    /** Returns since when the holder has the turn, in nanoseconds of the scheduler's clock. */
    public long holderSinceNs() {
        return holder == null ? 0 : holder.grantedAtNs;
    }

    /** Returns the present clients. */
    public Collection<Long> clientIds() {
        return List.copyOf(clients.keySet());
    }

    /** Returns whether a client waits for its turn. */
    public boolean waits(long clientId) {
        return clients.containsKey(clientId) && clients.get(clientId).wantSinceNs != 0;
    }

    /** Returns the hand-overs so far. */
    public Handovers handovers() {
        return handovers;
    }

    /** Returns the outlook for the planning of memory; a client that is not here is quiet and never runs. */
    public ClientOutlook outlook(long clientId, long nowNs) {
        ClientTurn client = clients.get(clientId);
        return client == null ? ClientOutlook.GONE
                : new TurnForecast(holder, queue.inOrder(), exclusive, quantumNs).of(client, nowNs);
    }
}
