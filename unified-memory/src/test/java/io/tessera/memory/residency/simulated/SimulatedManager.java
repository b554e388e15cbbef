package io.tessera.memory.residency.simulated;

import io.tessera.memory.residency.ClientMemoryState;
import io.tessera.memory.residency.IdleRelease;
import io.tessera.memory.residency.QuantumChooser;
import io.tessera.memory.residency.QuantumChooser.Participant;
import io.tessera.memory.residency.ResidencyPlan;
import io.tessera.memory.residency.ResidencyPlanner;
import io.tessera.memory.residency.simulated.SimulatedClient.Order;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A small manager: turns in order of arrival, residency by the planner. It reads all words, then waits for a while, then writes, so clients act in
 * between.
 */
final class SimulatedManager {
    private static final long NOTICE_NS = 20_000;
    private static final long WRITE_NS = 15_000;
    private static final long DEFAULT_QUANTUM_NS = 250_000_000;
    private static final long IDLE_RELEASE_NS = 1_000_000;
    private static final long FREE_IDLE_NS = 20_000_000;

    /** The manager's view of a client. */
    private static final class Member {
        Order order = Order.CLOSED;
        long epoch;
        boolean parked;
        long openedNs;
        long lastTurnEndedNs = Long.MIN_VALUE;
    }

    private final Cluster cluster;
    private final ResidencyPlanner planner = new ResidencyPlanner();
    private final QuantumChooser chooser = QuantumChooser.defaults();
    private final IdleRelease idleRelease = new IdleRelease(IDLE_RELEASE_NS);
    private final Map<SimulatedClient, Member> members = new LinkedHashMap<>();
    private boolean rung;
    private boolean exclusive;
    private SimulatedClient holder;
    private SimulatedClient lastOpened;
    private long longestQuantumNs;
    private long wakeNs = Long.MAX_VALUE;
    private long handovers;
    private long planCalls;

    SimulatedManager(Cluster cluster) {
        this.cluster = cluster;
    }

    long handovers() {
        return handovers;
    }

    long longestQuantumNs() {
        return longestQuantumNs;
    }

    long planCalls() {
        return planCalls;
    }

    void joined(SimulatedClient client) {
        members.put(client, new Member());
        ring();
    }

    void left(SimulatedClient client) {
        members.remove(client);
        idleRelease.left(client.id);
        holder = holder == client ? null : holder;
        ring();
    }

    void opened(SimulatedClient client) {
        Member member = members.get(client);
        if (member != null) {
            member.openedNs = cluster.queue().nowNs();
            handovers += lastOpened == client ? 0 : 1;
            lastOpened = client;
        }
    }

    /** Evicts the client until it asks for a turn. */
    void park(SimulatedClient client) {
        Member member = members.get(client);
        if (member != null && client != holder) {
            member.parked = true;
            ring();
        }
    }

    void ring() {
        wakeAt(cluster.queue().nowNs() + NOTICE_NS);
    }

    private void wakeAt(long atNs) {
        if (atNs >= wakeNs) {
            return;
        }
        wakeNs = atNs;
        cluster.queue().after(atNs - cluster.queue().nowNs(), () -> {
            if (wakeNs == atNs && !rung) {
                wakeNs = Long.MAX_VALUE;
                cycle();
            }
        });
    }

    private void cycle() {
        rung = true;
        long nowNs = cluster.queue().nowNs();
        long quantumNs = quantumNs();
        longestQuantumNs = Math.max(longestQuantumNs, quantumNs);
        updateTurns(quantumNs, nowNs);
        ResidencyPlan plan = planner.plan(cluster.settings().capacityBytes() - cluster.settings().fixedBytes(),
                words(quantumNs, nowNs), nowNs);
        planCalls++;
        boolean share = plan.fits() && (cluster.settings().activeShare() || allFits());
        decide(plan, share, quantumNs, nowNs);
        cluster.queue().after(WRITE_NS, () -> write(plan));
    }

    private void write(ResidencyPlan plan) {
        boolean again = false;
        for (Map.Entry<SimulatedClient, Member> entry : members.entrySet()) {
            Long target = plan.targets().get(entry.getKey().id);
            if (target != null && target != entry.getKey().memory.targetBytes()) {
                entry.getKey().memory.targetBytes(target);
                entry.getKey().targetChanged();
                again = true;
            }
        }
        checkBudget();
        rung = false;
        long due = wakeNs;
        wakeNs = Long.MAX_VALUE;
        wakeAt(again ? cluster.queue().nowNs() + NOTICE_NS : Math.max(due, cluster.queue().nowNs()));
    }

    /** Checks the budget rule: there is as much memory as clients hold, or may hold a moment later. */
    private void checkBudget() {
        long bytes = cluster.settings().fixedBytes();
        for (SimulatedClient client : members.keySet()) {
            bytes += Math.max(client.memory.heldBytes(), client.memory.targetBytes());
        }
        if (bytes > cluster.settings().capacityBytes()) {
            throw new AssertionError(bytes + " may be held, seed " + cluster.settings().seed());
        }
    }

    private boolean allFits() {
        long needed = cluster.settings().fixedBytes();
        for (SimulatedClient client : members.keySet()) {
            needed += Math.max(client.memory.neededBytes(), client.memory.wantedBytes());
        }
        return needed <= cluster.settings().capacityBytes();
    }

    private long quantumNs() {
        if (cluster.settings().quantumNs() > 0) {
            return cluster.settings().quantumNs();
        }
        return chooser.stretchedNs(DEFAULT_QUANTUM_NS, moveNs());
    }

    private long moveNs() {
        List<Participant> participants = new ArrayList<>();
        for (SimulatedClient client : members.keySet()) {
            participants.add(new Participant(client.memory.neededBytes(), client.guaranteeBytes));
        }
        long bytes = QuantumChooser.handover(
                cluster.settings().capacityBytes() - cluster.settings().fixedBytes(), participants).copiedBytes();
        return (long) cluster.settings().rates().moveNs(bytes, bytes);
    }

    // Turns

    private List<SimulatedClient> waiting() {
        return members.keySet().stream()
                .filter(client -> client.wantSinceNs() != 0 && members.get(client).order == Order.CLOSED)
                .sorted((a, b) -> a.wantSinceNs() != b.wantSinceNs() ? Long.compare(a.wantSinceNs(), b.wantSinceNs())
                        : Long.compare(a.id, b.id))
                .toList();
    }

    private boolean runs(SimulatedClient client, Member member, long nowNs) {
        return switch (member.order) {
            case CLOSED -> false;
            case GRANTED -> true;
            case FREE -> client.hasWork() || nowNs - client.idleSinceNs() < freeIdleNs(client);
        };
    }

    /** Returns how long a freely running client counts as active without work, so that its memory stays. */
    private long freeIdleNs(SimulatedClient client) {
        return Math.max(FREE_IDLE_NS, idleRelease.idleReleaseNs(client.id, moveNs()));
    }

    private void updateTurns(long quantumNs, long nowNs) {
        for (SimulatedClient client : members.keySet()) {
            if (client.wantSinceNs() != 0) {
                members.get(client).parked = false;
                idleRelease.wanted(client.id, moveNs(), nowNs);
            }
        }
        if (holder == null) {
            return;
        }
        Member member = members.get(holder);
        boolean contended = !waiting().isEmpty();
        if (!contended || !holder.open()) {
            return;
        }
        long idleNs = idleRelease.idleReleaseNs(holder.id, moveNs());
        if (!holder.hasWork() && nowNs - Math.max(holder.idleSinceNs(), member.openedNs) >= idleNs) {
            idleRelease.released(holder.id, nowNs);
            holder.release();
            stop(holder, nowNs);
        } else if (nowNs - member.openedNs >= quantumNs) {
            stop(holder, nowNs);
        } else {
            wakeAt(Math.min(member.openedNs + quantumNs, holder.hasWork() ? Long.MAX_VALUE
                    : Math.max(holder.idleSinceNs(), member.openedNs) + idleNs));
        }
    }

    private void stop(SimulatedClient client, long nowNs) {
        order(client, Order.CLOSED);
        members.get(client).lastTurnEndedNs = nowNs;
        holder = holder == client ? null : holder;
    }

    private void order(SimulatedClient client, Order order) {
        Member member = members.get(client);
        member.order = order;
        client.told(order, ++member.epoch);
    }

    private boolean quiet(SimulatedClient client) {
        Member member = members.get(client);
        return member.order == Order.CLOSED && client.quiet(member.epoch);
    }

    private void decide(ResidencyPlan plan, boolean share, long quantumNs, long nowNs) {
        boolean turnsBegin = !share && !exclusive;
        exclusive = !share;
        if (turnsBegin) {
            keepOne();
        }
        for (SimulatedClient client : List.copyOf(members.keySet())) {
            Member member = members.get(client);
            boolean evicted = plan.mustStop().contains(client.id) && !runs(client, member, nowNs);
            if (member.order == Order.FREE && (turnsBegin || evicted)) {
                if (evicted) {
                    idleRelease.released(client.id, nowNs);
                }
                stop(client, nowNs);
            }
        }
        if (share) {
            shareFreely(nowNs);
        } else if (holder == null && !waiting().isEmpty() && members.keySet().stream().allMatch(this::quiet)) {
            holder = waiting().getFirst();
            order(holder, Order.GRANTED);
            ring();
        }
    }

    /** When turns begin, gives the first one to the client that opened its gate last, because all others ran for longer. */
    private void keepOne() {
        members.keySet().stream().filter(client -> members.get(client).order == Order.FREE && client.hasWork())
                .max(Comparator.comparingLong(client -> members.get(client).openedNs)).ifPresent(client -> {
                    holder = client;
                    order(client, Order.GRANTED);
                });
    }

    private void shareFreely(long nowNs) {
        if (holder != null) {
            order(holder, Order.FREE);
            holder = null;
        }
        for (SimulatedClient client : waiting()) {
            order(client, Order.FREE);
            ring();
        }
        for (SimulatedClient client : members.keySet()) {
            boolean idles = members.get(client).order == Order.FREE && !client.hasWork();
            if (idles && nowNs - client.idleSinceNs() < freeIdleNs(client)) {
                wakeAt(client.idleSinceNs() + freeIdleNs(client));
            }
        }
    }

    private List<ClientMemoryState> words(long quantumNs, long nowNs) {
        List<SimulatedClient> waiting = waiting();
        List<ClientMemoryState> words = new ArrayList<>();
        for (Map.Entry<SimulatedClient, Member> entry : members.entrySet()) {
            SimulatedClient client = entry.getKey();
            Member member = entry.getValue();
            SwapMemory memory = client.memory;
            int place = waiting.indexOf(client);
            words.add(new ClientMemoryState(client.id, client.tenant, memory.heldBytes(), memory.targetBytes(),
                    memory.neededBytes(), memory.cachedBytes(), 0, memory.wantedBytes(), client.guaranteeBytes,
                    quiet(client), member.parked, place < 0 ? ClientMemoryState.UNKNOWN : nowNs + (place + 1) * quantumNs,
                    member.lastTurnEndedNs, runs(client, member, nowNs)));
        }
        return words;
    }
}
