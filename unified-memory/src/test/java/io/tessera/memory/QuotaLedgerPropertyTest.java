package io.tessera.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;

/**
 * Random histories of a tenant's clients, with messages that take time in both directions but keep their order. A failure names its seed, from which
 * the whole history follows.
 */
class QuotaLedgerPropertyTest {
    private static final String GPU = "GPU-0";
    private static final int STEPS = 500;
    private static final long WAIT_NS = 100;

    private enum Kind { LEASE, TRIM }

    private record ToClient(Kind kind, long bytes) {
    }

    private record ToManager(boolean ask, long bytes) {
    }

    /** A client's use of the protocol, and its beliefs. */
    private static final class Client {
        final ArrayDeque<ToClient> inbox = new ArrayDeque<>();
        final ArrayDeque<ToManager> outbox = new ArrayDeque<>();
        long leaseBytes;
        long usedBytes;
        boolean asking;
        long askedNs;
    }

    /** Ledger, clients and the messages between them. */
    private static final class History {
        final long seed;
        final Random random;
        final QuotaLedger ledger = new QuotaLedger();
        final Map<Long, Client> clients = new TreeMap<>();
        long limitBytes;
        boolean everLowered;
        long nowNs;
        long nextId = 1;

        History(long seed) {
            this.seed = seed;
            this.random = new Random(seed);
            this.limitBytes = 1 + random.nextLong(20 * TenantQuota.GRAIN_BYTES);
            ledger.limit("a", GPU, limitBytes);
        }

        void step() {
            nowNs += random.nextInt(20);
            long id = nextId == 1 ? 1 : 1 + random.nextLong(nextId - 1);
            Client client = clients.get(id);
            switch (random.nextInt(10)) {
                case 0 -> join();
                case 1 -> {
                    if (client != null && random.nextInt(4) == 0) {
                        clients.remove(id);
                        ledger.leave(id);
                    }
                }
                case 2, 3 -> use(client);
                case 4 -> {
                    if (client != null) {
                        client.usedBytes = client.usedBytes == 0 ? 0 : random.nextLong(client.usedBytes);
                    }
                }
                case 5, 6, 7 -> deliver(client);
                case 8 -> receive(id, client);
                default -> {
                    if (random.nextInt(20) == 0) {
                        relimit();
                    }
                }
            }
            answer();
        }

        private void join() {
            if (clients.size() < 4) {
                Client client = new Client();
                clients.put(nextId, client);
                client.inbox.add(new ToClient(Kind.LEASE, ledger.join("a", GPU, nextId)));
                nextId++;
            }
        }

        private void relimit() {
            long newLimit = 1 + random.nextLong(20 * TenantQuota.GRAIN_BYTES);
            everLowered |= newLimit < limitBytes;
            limitBytes = newLimit;
            trim(ledger.limit("a", GPU, newLimit).trim());
        }

        private void trim(List<Long> ids) {
            ids.forEach(id -> clients.get(id).inbox.add(new ToClient(Kind.TRIM, 0)));
        }

        /** Makes an allocation: within the lease, or by a request, one at a time. */
        private void use(Client client) {
            if (client == null || client.asking) {
                return;
            }
            long bytes = 1 + random.nextLong(6 * TenantQuota.GRAIN_BYTES);
            if (bytes <= client.leaseBytes - client.usedBytes) {
                client.usedBytes += bytes;
            } else {
                client.asking = true;
                client.outbox.add(new ToManager(true, bytes));
            }
        }

        private void deliver(Client client) {
            if (client == null || client.inbox.isEmpty()) {
                return;
            }
            ToClient message = client.inbox.poll();
            if (message.kind() == Kind.LEASE) {
                client.leaseBytes = message.bytes();
            } else {
                client.leaseBytes = client.usedBytes;
                client.outbox.add(new ToManager(false, client.usedBytes));
            }
        }

        private void receive(long id, Client client) {
            if (client == null || client.outbox.isEmpty()) {
                return;
            }
            ToManager message = client.outbox.poll();
            if (!message.ask()) {
                ledger.returned(id, GPU, message.bytes());
                return;
            }
            client.askedNs = nowNs;
            switch (ledger.ask(id, GPU, message.bytes(), nowNs + WAIT_NS)) {
                case QuotaDecision.Trim trim -> trim(trim.clients());
                case QuotaDecision.Granted granted -> tell(id, granted.leaseBytes());
                case QuotaDecision.Refused refused -> tell(id, refused.leaseBytes());
            }
        }

        private void answer() {
            for (QuotaAnswer answer : ledger.decided(nowNs)) {
                switch (answer.decision()) {
                    case QuotaDecision.Granted granted -> tell(answer.client(), granted.leaseBytes());
                    case QuotaDecision.Refused refused -> tell(answer.client(), refused.leaseBytes());
                    case QuotaDecision.Trim trim -> throw new AssertionError("no answer: " + trim + ", seed " + seed);
                }
            }
        }

        private void tell(long id, long leaseBytes) {
            Client client = clients.get(id);
            assertTrue(client.asking, () -> "an answer to " + id + " a client that asks nothing, seed " + seed);
            client.asking = false;
            client.inbox.add(new ToClient(Kind.LEASE, leaseBytes));
        }

        void check() {
            if (!everLowered) {
                assertTrue(ledger.leasedBytes("a", GPU) <= limitBytes,
                        () -> ledger.leasedBytes("a", GPU) + " leased of " + limitBytes + ", seed " + seed);
                long used = clients.values().stream().mapToLong(client -> client.usedBytes).sum();
                assertTrue(used <= limitBytes, () -> used + " used of " + limitBytes + ", seed " + seed);
            }
            clients.forEach((id, client) -> {
                long leaseBytes = ledger.leaseBytes(id, GPU);
                assertTrue(client.leaseBytes <= leaseBytes, () -> id + " believes it has " + client.leaseBytes
                        + ", the ledger says " + leaseBytes + ", seed " + seed);
                boolean waits = client.asking && client.outbox.stream().noneMatch(ToManager::ask);
                assertTrue(!waits || nowNs < client.askedNs + WAIT_NS,
                        () -> id + " got no answer by its deadline, seed " + seed);
                if (client.inbox.isEmpty() && client.outbox.isEmpty()) {
                    assertEquals(leaseBytes, client.leaseBytes,
                            () -> "nothing is under way to or from " + id + ", seed " + seed);
                }
            });
        }
    }

    @Property(tries = 500, shrinking = ShrinkingMode.OFF)
    void leasesNeverExceedTheLimitAndClientsNeverBelieveMoreThanTheLedger(@ForAll long seed) {
        History history = new History(seed);
        for (int step = 0; step < STEPS; step++) {
            history.step();
            history.check();
        }
    }
}
