package io.tessera.executor.turn;

import io.tessera.clock.NanoClock;
import io.tessera.policy.PolicyName;
import io.tessera.policy.TenantTerms;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Holds clients' submissions back until it is their tenant's turn, and counts the GPU time of each client. While no turns are needed, a client only reads
 * one word for each record. Thread-safe; no method waits or calls a driver.
 */
public final class SubmissionGate {
    /** Maximum number of tenants with terms: more than a device serves. Each second the manager repeats terms that a present tenant lacks. */
    private static final int MOST_NAMES = 4096;

    private final NanoClock clock;
    private final GateTurns turns = new GateTurns();
    private final Map<String, Known> known = new HashMap<>();
    /** Terms that were set for tenants, also for those without clients. */
    private final Map<String, TenantTerms> terms = new HashMap<>();
    /** Time up to which GPU time is counted. */
    private long countedNs;
    /** As {@link GateTurns#isActive}, for threads that only read it. */
    private volatile boolean active;

    private static final class Known {
        private final List<Client> clients = new ArrayList<>();
        private GateTenant tenant;
    }

    /** Creates a gate without clients that holds nothing back. */
    public SubmissionGate(NanoClock clock) {
        this.clock = clock;
        this.countedNs = clock.nanoTime();
    }

    /** One client. {@link #mayGo}, {@link #goes} and {@link #done} belong to its owner thread. */
    public final class Client {
        private final String name;
        private final GateTenant tenant;
        private volatile BooleanSupplier busy = () -> false;
        private volatile Thread owner;
        private volatile boolean standing;
        /** Whether its next record is a submission that is held back. Written by the owner. */
        private volatile boolean waiting;
        private volatile long usedNs;
        private long waitedNs;
        private long waitsSinceNs;
        private boolean gone;

        private Client(String name, GateTenant tenant) {
            this.name = name;
            this.tenant = tenant;
        }

        /**
         * Makes the calling thread the owner.
         *
         * @param asked tells whether it has work on the device; called on any thread
         */
        public void begin(BooleanSupplier asked) {
            owner = Thread.currentThread();
            busy = asked;
        }

        /** Returns whether a submission may be made now. If not, the client counts as waiting for its tenant's turn, until it {@link #goes} or leaves. */
        public boolean mayGo() {
            return tenant.open || waits(this);
        }

        /** Records that a submission is made. */
        public void goes() {
            if (waiting) {
                waitsNoMore(this);
            }
        }

        /** Returns whether it waits for its tenant's turn. */
        public boolean isHeld() {
            return waiting && !tenant.open;
        }

        /** Returns whether submissions of tenants are held back now. Then the end of work should be noticed soon. */
        public boolean isGated() {
            return active;
        }

        /** Records that its work was found to be done, which was not known before. */
        public void done() {
            if (active) {
                doneBy(this);
            }
        }

        /** Sets whether a stream of it waits for its program: work on the device may not end by itself. */
        public void stands(boolean now) {
            if (standing != now) {
                standing = now;
            }
        }

        /** Removes the client, which has left or whose work is given up. */
        public void leave() {
            leaves(this);
        }

        /** Returns its GPU time so far; of time in which several tenants ran, its share. */
        public long usedNs() {
            return usedNs;
        }

        /** Returns for how long its submissions were held back so far, including now. */
        public long waitedNs() {
            return waitedBy(this);
        }
    }

    /**
     * Adds a client.
     *
     * @param tenant by a name that no other user's tenant has
     */
    public synchronized Client join(String tenant) {
        long nowNs = clock.nanoTime();
        count(null, nowNs);
        Known entry = known.computeIfAbsent(tenant, _ -> new Known());
        if (entry.tenant == null) {
            entry.tenant = turns.join(tenant, termsOf(tenant), () -> isBusy(entry), nowNs);
        }
        Client client = new Client(tenant, entry.tenant);
        entry.clients.add(client);
        changed();
        return client;
    }

    private synchronized void leaves(Client client) {
        if (client.gone) {
            return;
        }
        long nowNs = clock.nanoTime();
        count(null, nowNs);
        client.gone = true;
        goes(client, nowNs);
        Known entry = known.get(client.name);
        entry.clients.remove(client);
        if (entry.clients.isEmpty()) {
            known.remove(client.name);
            terms.remove(client.name); // the manager repeats them before the next program of the tenant starts
            turns.leave(entry.tenant, nowNs);
        }
        changed();
    }

    /** Sets the terms of a tenant, also of one without clients. */
    public synchronized void terms(String tenant, TenantTerms newTerms) {
        if (newTerms.equals(TenantTerms.DEFAULT)) {
            terms.remove(tenant);
        } else if (terms.size() < MOST_NAMES || terms.containsKey(tenant)) {
            terms.put(tenant, newTerms);
        }
        Known entry = known.get(tenant);
        if (entry != null) {
            long nowNs = clock.nanoTime();
            count(null, nowNs);
            turns.change(entry.tenant, termsOf(tenant), nowNs);
            changed();
        }
    }

    /** Returns the terms of a tenant. */
    public synchronized TenantTerms termsOf(String tenant) {
        return terms.getOrDefault(tenant, TenantTerms.DEFAULT);
    }

    /** Sets the policy by which tenants take turns, and whether they do. */
    public synchronized void share(PolicyName policy, TurnUse use) {
        long nowNs = clock.nanoTime();
        count(null, nowNs);
        turns.share(policy, use, nowNs);
        changed();
    }

    /** Returns the policy by which tenants take turns. */
    public synchronized PolicyName policy() {
        return turns.policy();
    }

    /** Returns when tenants take turns: never, always, or where a setting requires it. */
    public synchronized TurnUse use() {
        return turns.use();
    }

    /** Returns whether submissions are held back now. */
    public boolean isActive() {
        return active;
    }

    /** Returns how many clients wait for their tenant's turn. */
    public synchronized int held() {
        int held = 0;
        for (Known entry : known.values()) {
            held += (int) entry.clients.stream().filter(Client::isHeld).count();
        }
        return held;
    }

    /** Counts GPU time and does what is due; every millisecond while submissions are held back. */
    public synchronized void look(long nowNs) {
        count(null, nowNs);
        turns.step(nowNs);
        changed();
    }

    private synchronized boolean waits(Client client) {
        if (!client.waiting && !client.gone) {
            long nowNs = clock.nanoTime();
            count(null, nowNs);
            client.waiting = true;
            client.waitsSinceNs = nowNs;
            turns.waits(client.tenant, nowNs);
            turns.step(nowNs);
            changed();
        }
        return client.tenant.open;
    }

    private synchronized long waitedBy(Client client) {
        return client.waitedNs + (client.waiting ? clock.nanoTime() - client.waitsSinceNs : 0);
    }

    private synchronized void waitsNoMore(Client client) {
        goes(client, clock.nanoTime());
    }

    private void goes(Client client, long nowNs) {
        if (client.waiting) {
            client.waiting = false;
            client.waitedNs += nowNs - client.waitsSinceNs;
            turns.waitsNoMore(client.tenant, nowNs);
        }
    }

    private synchronized void doneBy(Client client) {
        long nowNs = clock.nanoTime();
        count(client, nowNs);
        turns.step(nowNs);
        changed();
    }

    private static boolean isBusy(Known entry) {
        for (Client client : entry.clients) {
            if (client.busy.getAsBoolean() && !client.standing) {
                return true;
            }
        }
        return false;
    }

    /**
     * Counts the time since the last look for the tenants that have work now, in equal parts: the sum never exceeds the elapsed time.
     *
     * @param done the client whose work was just done; null: none
     */
    private void count(Client done, long nowNs) {
        long passedNs = nowNs - countedNs;
        if (passedNs <= 0) {
            return;
        }
        countedNs = nowNs;
        Map<Known, List<Client>> working = new HashMap<>(); // each client is asked only once, since its answer may change at any moment
        for (Known entry : known.values()) {
            for (Client client : entry.clients) {
                if (client == done || client.busy.getAsBoolean()) {
                    working.computeIfAbsent(entry, _ -> new ArrayList<>()).add(client);
                }
            }
        }
        working.forEach((entry, clients) -> {
            long partNs = passedNs / working.size();
            turns.charge(entry.tenant, partNs, nowNs);
            clients.forEach(client -> client.usedNs += partNs / clients.size());
        });
    }

    /** Wakes the clients whose turn has come. */
    private void changed() {
        active = turns.isActive();
        for (Known entry : known.values()) {
            if (entry.tenant.open) {
                for (Client client : entry.clients) {
                    if (client.waiting) {
                        LockSupport.unpark(client.owner);
                    }
                }
            }
        }
    }
}
