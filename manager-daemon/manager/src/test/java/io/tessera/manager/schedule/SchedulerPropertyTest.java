package io.tessera.manager.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.manager.schedule.turn.AckState;
import io.tessera.manager.schedule.turn.ClientLoad;
import io.tessera.manager.schedule.turn.DrainPolicy;
import io.tessera.manager.schedule.turn.ScheduleSettings;
import io.tessera.manager.schedule.turn.TurnPort;
import io.tessera.manager.schedule.turn.TurnState;
import io.tessera.manager.schedule.turn.TurnTerms;
import io.tessera.policy.PolicyName;
import io.tessera.policy.TenantClass;
import io.tessera.policy.TenantTerms;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.LongConsumer;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;

/** Random histories of one device. A failure names its seed, from which the whole history follows. */
class SchedulerPropertyTest {
    private static final long MS = 1_000_000L;
    private static final int STEPS = 400;

    /** State of one client according to SPEC.md, section 3, kept independently of the scheduler. */
    private static final class Model {
        long epoch;
        TurnState state = TurnState.CLOSED;
        long grantEpoch = -1;
        boolean stopped = true;
        long waitingSinceNs;

        /** Whether it opened again while another was granted: not a fault of the scheduler, for as long as that turn lasts. */
        boolean brokeItsWord;
    }

    /** Checks every order as it is written. */
    private static final class CheckingPort implements TurnPort {
        final Map<Long, Model> clients = new TreeMap<>();
        final Map<Long, Long> submissions = new HashMap<>();
        final Random random;
        final long seed;
        LongConsumer onOrder = id -> {};

        /** Whether the answer on its way is an early release of the present turn. */
        private boolean released;

        CheckingPort(long seed) {
            this.seed = seed;
            this.random = new Random(seed);
        }

        @Override
        public void order(long clientId, long epoch, TurnState state, TurnTerms terms) {
            Model client = clients.get(clientId);
            assertTrue(client != null, () -> "order to a client that is gone, seed " + seed);
            assertEquals(client.epoch + 1, epoch, () -> "epoch, seed " + seed);
            if (state == TurnState.CLOSED) {
                // A release answers the order that follows it.
                client.stopped = client.stopped && client.state == TurnState.CLOSED || releasedBy(client);
            } else {
                client.stopped = false;
            }
            client.epoch = epoch;
            client.state = state;
            if (state == TurnState.GRANTED) {
                client.grantEpoch = epoch;
                assertTrue(terms.quantumNs() > 0, () -> "a grant without a quantum, seed " + seed);
            }
            checkAlone();
            onOrder.accept(clientId);
        }

        private boolean releasedBy(Model client) {
            return released && client.state == TurnState.GRANTED;
        }

        private void checkAlone() {
            clients.forEach((id, client) -> {
                if (client.state != TurnState.GRANTED) {
                    return;
                }
                clients.forEach((otherId, other) -> assertTrue(
                        otherId.equals(id)
                                || (other.state == TurnState.CLOSED && (other.stopped || other.brokeItsWord)),
                        () -> id + " is GRANTED beside " + otherId + " " + other.state + ", seed " + seed));
            });
        }

        /** Receives an answer before the scheduler does, and decides its meaning first. */
        void answer(DeviceScheduler scheduler, long id, long epoch, AckState state, long nowNs) {
            Model client = clients.get(id);
            released = false;
            if (client != null) {
                boolean current = epoch == client.epoch;
                if (client.state == TurnState.CLOSED) {
                    if (current && state == AckState.CLOSED) {
                        client.stopped = true;
                    } else if (state == AckState.RELEASED && epoch == client.grantEpoch && client.epoch == epoch + 1) {
                        client.stopped = true;
                    } else if (current && (state == AckState.OPEN || state == AckState.DRAINING)) {
                        // It broke the protocol: a client that was granted before cannot be helped, but none may be granted after it.
                        boolean somebodyRuns = clients.values().stream().anyMatch(c -> c.state == TurnState.GRANTED);
                        client.brokeItsWord |= somebodyRuns && client.stopped;
                        client.stopped = false;
                    }
                } else {
                    released = client.state == TurnState.GRANTED && current && state == AckState.RELEASED;
                }
            }
            scheduler.acknowledged(id, epoch, state, nowNs);
            released = false;
            if (clients.values().stream().noneMatch(c -> c.state == TurnState.GRANTED)) {
                clients.values().forEach(c -> c.brokeItsWord = false);
            }
        }

        @Override
        public void amend(long clientId, TurnTerms terms) {
            assertTrue(clients.containsKey(clientId), () -> "terms for a client that is gone, seed " + seed);
        }

        @Override
        public ClientLoad load(long clientId) {
            long count = submissions.merge(clientId, (long) random.nextInt(100), Long::sum);
            return new ClientLoad(count, count / 3, count / 2, random.nextInt(1000), 0);
        }

        @Override
        public void reportUndrained(long clientId, long sinceRevokedNs) {
        }

        @Override
        public boolean isStopped(long clientId) {
            return false;
        }

        @Override
        public void reportStopped(long clientId) {
            throw new AssertionError("nobody is stopped");
        }

        @Override
        public void end(long clientId) {
        }
    }

    private static ScheduleSettings settings(Random random) {
        DrainPolicy[] policies = DrainPolicy.values();
        return ScheduleSettings.defaults().withGraceNs((50 + random.nextInt(1000)) * MS)
                .withDrainPolicy(policies[random.nextInt(policies.length)]).withTotalBytes(random.nextInt(4000));
    }

    @Property(tries = 400, shrinking = ShrinkingMode.OFF)
    void whateverClientsSayNobodyIsGrantedBesideAnother(@ForAll long seed) {
        CheckingPort port = new CheckingPort(seed);
        Random random = new Random(seed);
        DeviceScheduler scheduler = new DeviceScheduler(settings(random), port, 0);
        long nowNs = 1;
        long nextId = 1;
        for (int step = 0; step < STEPS; step++) {
            nowNs += random.nextInt(4) == 0 ? random.nextInt(400) * MS : random.nextInt(1000);
            long id = nextId == 1 ? 1 : 1 + random.nextLong(nextId - 1);
            switch (random.nextInt(14)) {
                case 0 -> {
                    if (port.clients.size() < 6) {
                        port.clients.put(nextId, new Model());
                        scheduler.joined(nextId, tenant(nextId), terms(random), nowNs);
                        nextId++;
                    }
                }
                case 1 -> {
                    if (random.nextInt(4) == 0) {
                        port.clients.remove(id);
                        scheduler.left(id, nowNs);
                    }
                }
                case 2, 3 -> scheduler.wants(id, nowNs, nowNs);
                case 4 -> scheduler.wants(id, 0, nowNs);
                case 5 -> {
                    SchedulerMode[] modes = SchedulerMode.values();
                    scheduler.mode(modes[random.nextInt(modes.length)], nowNs);
                }
                case 6 -> scheduler.quantumNs((1 + random.nextInt(300)) * MS, nowNs);
                case 7 -> scheduler.doWork(nowNs);
                case 8 -> scheduler.terms(tenant(id), terms(random), nowNs);
                case 9 -> {
                    PolicyName[] policies = PolicyName.values();
                    scheduler.policy(policies[random.nextInt(policies.length)], nowNs);
                }
                default -> {
                    Model client = port.clients.get(id);
                    long stale = random.nextInt(3) == 0 ? random.nextInt(5) - 3 : 0;
                    long epoch = client == null ? 1 : client.epoch + stale;
                    AckState[] states = AckState.values();
                    port.answer(scheduler, id, epoch, states[random.nextInt(states.length)], nowNs);
                }
            }
            scheduler.doWork(nowNs);
            long dueNs = scheduler.nextDeadlineNs();
            long atNs = nowNs;
            assertTrue(dueNs > atNs, () -> "due at " + dueNs + " and it is " + atNs + ", seed " + seed + " under " + scheduler.snapshot(atNs));
            checkSnapshot(port, scheduler, nowNs);
        }
    }

    /** Returns a tenant's name; some tenants have several clients. */
    private static String tenant(long clientId) {
        return "p" + clientId % 4;
    }

    private static TenantTerms terms(Random random) {
        return new TenantTerms(1 + random.nextInt(5), random.nextInt(5) - 2, TenantClass.values()[random.nextInt(2)],
                random.nextInt(3) == 0 ? 0.1 + random.nextInt(9) / 10.0 : 1, random.nextInt(3) == 0 ? 0.2 : 1, random.nextInt(2) * 50 * MS,
                random.nextBoolean());
    }

    private static void checkSnapshot(CheckingPort port, DeviceScheduler scheduler, long nowNs) {
        DeviceTurns turns = scheduler.snapshot(nowNs);
        long granted = port.clients.values().stream().filter(c -> c.state == TurnState.GRANTED).count();
        assertEquals(turns.holder().isPresent() ? 1 : 0, granted, () -> "holders, seed " + port.seed);
        turns.holder().ifPresent(id -> assertEquals(TurnState.GRANTED, port.clients.get(id).state));
        assertTrue(!turns.reason().isBlank());
    }

    private record Answer(long atNs, long number, Runnable action) {
    }

    @Property(tries = 60, shrinking = ShrinkingMode.OFF)
    void noWaiterStarvesWhileClientsKeepToTheProtocol(@ForAll long seed) {
        new Obedient(seed).run();
    }

    /** Clients that drain within 50 ms after an order, on a clock that jumps from event to event. */
    private static final class Obedient {
        private static final int CLIENTS = 5;

        /** The policies under which no client waits for more than a round while all tenants are equal. */
        private static final List<PolicyName> PROMPT = List.of(PolicyName.FIFO, PolicyName.ROUND_ROBIN, PolicyName.FAIR);
        private static final long MAX_DRAIN_NS = 50 * MS;
        private static final long MAX_QUANTUM_NS = 200 * MS;

        /**
         * All others run first, each with a whole quantum and its drain, and a change of mode (at most one every 20 s) may make all drain and start
         * again: twice that, and one more second.
         */
        private static final long BOUND_NS = 2 * CLIENTS * (MAX_QUANTUM_NS + MAX_DRAIN_NS) + 1000 * MS;

        private final long seed;
        private final Random random;
        private final CheckingPort port;
        private final DeviceScheduler scheduler;
        private final PriorityQueue<Answer> answers = new PriorityQueue<>((a, b) -> a.atNs() != b.atNs()
                ? Long.compare(a.atNs(), b.atNs()) : Long.compare(a.number(), b.number()));
        private long number;
        private long nowNs = 1;

        Obedient(long seed) {
            this.seed = seed;
            this.random = new Random(seed);
            this.port = new CheckingPort(seed);
            this.scheduler = new DeviceScheduler(settings(random), port, 0);
            scheduler.policy(PROMPT.get(random.nextInt(PROMPT.size())), nowNs);
            port.onOrder = this::ordered;
        }

        private void later(long delayNs, Runnable action) {
            answers.add(new Answer(nowNs + delayNs, number++, action));
        }

        private void ordered(long id) {
            Model client = port.clients.get(id);
            long epoch = client.epoch;
            TurnState state = client.state;
            later(1 + random.nextLong(state == TurnState.CLOSED ? MAX_DRAIN_NS : MS), () -> {
                if (port.clients.get(id) != client || client.epoch != epoch) {
                    return;
                }
                if (state == TurnState.CLOSED) {
                    port.answer(scheduler, id, epoch, AckState.CLOSED, nowNs);
                } else {
                    client.waitingSinceNs = 0;
                    scheduler.wants(id, 0, nowNs);
                    if (port.clients.get(id) == client && client.epoch == epoch) {
                        port.answer(scheduler, id, epoch, AckState.OPEN, nowNs);
                    }
                    later(random.nextLong(300 * MS), () -> releaseOrWant(id, client, epoch));
                }
            });
            if (state == TurnState.CLOSED) {
                later(MAX_DRAIN_NS + random.nextLong(100 * MS), () -> want(id, client));
            }
        }

        private void releaseOrWant(long id, Model client, long epoch) {
            if (port.clients.get(id) == client && client.epoch == epoch && client.state == TurnState.GRANTED
                    && random.nextBoolean()) {
                port.answer(scheduler, id, epoch, AckState.RELEASED, nowNs);
            }
        }

        private void want(long id, Model client) {
            if (port.clients.get(id) == client && client.state == TurnState.CLOSED && client.waitingSinceNs == 0) {
                client.waitingSinceNs = nowNs;
                scheduler.wants(id, nowNs, nowNs);
            }
        }

        void run() {
            long nextId = 1;
            for (; nextId <= CLIENTS; nextId++) {
                port.clients.put(nextId, new Model());
                scheduler.joined(nextId, "p" + nextId, TenantTerms.DEFAULT, nowNs);
                long id = nextId;
                later(random.nextLong(100 * MS), () -> want(id, port.clients.get(id)));
            }
            long nextChangeNs = 0;
            long endNs = nowNs + 100_000 * MS;
            while (nowNs < endNs) {
                long nextNs = Math.min(scheduler.nextDeadlineNs(), nextChangeNs);
                if (!answers.isEmpty()) {
                    nextNs = Math.min(nextNs, answers.peek().atNs());
                }
                nowNs = Math.max(nowNs, nextNs);
                while (!answers.isEmpty() && answers.peek().atNs() <= nowNs) {
                    answers.poll().action().run();
                }
                if (nextChangeNs <= nowNs) {
                    SchedulerMode[] modes = SchedulerMode.values();
                    scheduler.mode(modes[random.nextInt(modes.length)], nowNs);
                    scheduler.quantumNs((10 + random.nextInt(190)) * MS, nowNs);
                    nextChangeNs = nowNs + 20_000 * MS;
                }
                scheduler.doWork(nowNs);
                checkNobodyStarves();
            }
        }

        private void checkNobodyStarves() {
            port.clients.forEach((id, client) -> assertTrue(
                    client.waitingSinceNs == 0 || nowNs - client.waitingSinceNs <= BOUND_NS,
                    () -> id + " has been waiting for " + (nowNs - client.waitingSinceNs) / MS + " ms, seed " + seed));
        }
    }
}
