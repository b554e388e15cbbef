package io.tessera.manager.schedule;

import io.tessera.manager.schedule.turn.AckState;
import io.tessera.manager.schedule.turn.ClientLoad;
import io.tessera.manager.schedule.turn.ScheduleSettings;
import io.tessera.manager.schedule.turn.TurnPort;
import io.tessera.manager.schedule.turn.TurnState;
import io.tessera.manager.schedule.turn.TurnTerms;
import io.tessera.policy.TenantTerms;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;

/**
 * Discrete simulation of one device, its clients and the scheduler between them.
 *
 * <p>The device runs one context at a time. While several have work it gives each a slice of 2 ms and loses 0.2 ms at every change, which makes the 9
 * % that two GPU-bound trainings were measured to lose (h200-measurements.md). Kernels longer than a slice run to their end unless {@link
 * #interruptsKernels} is set. Orders, answers and wants are delayed on their way. Every order is checked against the invariant of the turns.
 */
final class SimulatedGpu implements TurnPort {
    static final long MS = 1_000_000L;
    static final long SECOND = 1_000_000_000L;

    /** Work is recorded in windows of this length. */
    static final long WINDOW_NS = 10 * MS;

    private static final long SLICE_NS = 2 * MS;
    private static final long SWITCH_NS = 200_000;
    private static final long IDLE_SWITCH_NS = 5_000;
    private static final long MESSAGE_NS = 50_000;
    private static final long DRAIN_NS = 100_000;
    private static final long SAMPLE_EVERY_NS = 10 * MS;

    /**
     * Whether a slice ends within a kernel, as on a GPU: beside kernels of 13 ms requests of 0.8 ms were measured to take 2.6 ms at the median
     * (FINDINGS.md, "A small model beside one heavy program").
     */
    boolean interruptsKernels;

    private record Event(long atNs, long number, Runnable action) implements Comparable<Event> {
        @Override
        public int compareTo(Event other) {
            int byTime = Long.compare(atNs, other.atNs);
            return byTime != 0 ? byTime : Long.compare(number, other.number);
        }
    }

    final DeviceScheduler scheduler;
    final List<SimulatedGpuClient> clients = new ArrayList<>();
    final Map<Long, double[]> windows = new HashMap<>();
    final List<String> modeChanges = new ArrayList<>();

    /** Changes between turns and free running, from the first order to the first grant or to the orders to run. */
    record Transition(long fromNs, long untilNs, boolean toTurns) {
    }

    final List<Transition> transitions = new ArrayList<>();
    private boolean takingTurns;
    private long closedSinceNs = Long.MAX_VALUE;
    private final Map<Long, Boolean> acknowledgedClosed = new HashMap<>();
    private final PriorityQueue<Event> events = new PriorityQueue<>();
    private long eventNumber;
    private long nowNs;
    private long nextSampleNs = SAMPLE_EVERY_NS;
    private boolean lastExclusive;

    /** The client that has a kernel on the device, and the time until the device chooses again. */
    private SimulatedGpuClient running;
    private long runningNs;
    private long kernelEndNs = Long.MAX_VALUE;
    private SimulatedGpuClient context;
    private long sliceEndNs;
    private int nextSlot;

    SimulatedGpu(ScheduleSettings settings, SchedulerMode mode) {
        scheduler = new DeviceScheduler(settings, this, 0);
        scheduler.mode(mode, 0);
    }

    SimulatedGpuClient add(Workload workload) {
        return add(workload, workload, Long.MAX_VALUE, 0);
    }

    SimulatedGpuClient add(Workload first, Workload second, long secondFromNs, double jitter) {
        return add(first, second, secondFromNs, jitter, "p" + (clients.size() + 1), TenantTerms.DEFAULT);
    }

    SimulatedGpuClient add(Workload workload, String tenant, TenantTerms terms) {
        return add(workload, workload, Long.MAX_VALUE, 0, tenant, terms);
    }

    private SimulatedGpuClient add(Workload first, Workload second, long secondFromNs, double jitter, String tenant, TenantTerms terms) {
        long id = clients.size() + 1;
        SimulatedGpuClient client = new SimulatedGpuClient(id, first, second, secondFromNs, jitter, 1000 + id);
        // Clients do not start at the same time.
        client.begin(nowNs + 137_000 * id);
        clients.add(client);
        windows.put(id, new double[1 << 14]);
        acknowledgedClosed.put(id, true);
        scheduler.joined(id, tenant, terms, nowNs);
        return client;
    }

    /** Returns the time that the device worked for a client between two times. */
    double workNs(SimulatedGpuClient client, long fromNs, long untilNs) {
        double sumNs = 0;
        for (long window = fromNs / WINDOW_NS; window < untilNs / WINDOW_NS; window++) {
            sumNs += windows.get(client.id)[(int) window];
        }
        return sumNs;
    }

    private SimulatedGpuClient client(long id) {
        return clients.get((int) id - 1);
    }

    private void at(long timeNs, Runnable action) {
        events.add(new Event(timeNs, eventNumber++, action));
    }

    /** Runs until the given time. */
    void runUntil(long endNs) {
        while (true) {
            long nextNs = Math.min(Math.min(kernelEndNs, nextSampleNs), scheduler.nextDeadlineNs());
            if (!events.isEmpty()) {
                nextNs = Math.min(nextNs, events.peek().atNs());
            }
            for (SimulatedGpuClient client : clients) {
                if (client.host == SimulatedGpuClient.Host.READY) {
                    nextNs = Math.min(nextNs, client.hostReadyNs);
                }
            }
            if (nextNs > endNs) {
                nowNs = endNs;
                return;
            }
            nowNs = Math.max(nowNs, nextNs);
            step();
        }
    }

    private void step() {
        while (!events.isEmpty() && events.peek().atNs() <= nowNs) {
            events.poll().action().run();
        }
        if (kernelEndNs <= nowNs) {
            finishKernel();
        }
        for (SimulatedGpuClient client : clients) {
            if (client.host == SimulatedGpuClient.Host.READY && client.hostReadyNs <= nowNs) {
                launch(client);
            }
        }
        if (nextSampleNs <= nowNs) {
            sample();
        }
        if (scheduler.nextDeadlineNs() <= nowNs) {
            scheduler.doWork(nowNs);
            if (scheduler.nextDeadlineNs() <= nowNs) {
                throw new AssertionError("work left over at " + nowNs + " ns");
            }
        }
        noteMode();
        if (running == null) {
            startKernel();
        }
    }

    private void noteMode() {
        DeviceTurns turns = nowNs % MS == 0 || kernelEndNs == Long.MAX_VALUE ? scheduler.snapshot(nowNs) : null;
        if (turns != null && turns.exclusive() != lastExclusive) {
            lastExclusive = turns.exclusive();
            modeChanges.add(nowNs / MS + " ms: " + turns.reason());
        }
    }

    // The device

    private void startKernel() {
        SimulatedGpuClient next = choose();
        if (next == null) {
            return;
        }
        long costNs = 0;
        if (next != context) {
            costNs = context != null && !context.idle() ? SWITCH_NS : IDLE_SWITCH_NS;
            context = next;
            sliceEndNs = nowNs + costNs + SLICE_NS;
        } else if (nowNs >= sliceEndNs) {
            sliceEndNs = nowNs + SLICE_NS;
        }
        running = next;
        runningNs = interruptsKernels ? Math.min(next.nextKernelNs(), SLICE_NS) : next.nextKernelNs();
        kernelEndNs = nowNs + costNs + runningNs;
    }

    private SimulatedGpuClient choose() {
        if (context != null && !context.idle() && nowNs < sliceEndNs) {
            return context;
        }
        for (int i = 0; i < clients.size(); i++) {
            SimulatedGpuClient candidate = clients.get((nextSlot + i) % clients.size());
            if (!candidate.idle()) {
                nextSlot = (int) candidate.id % clients.size();
                return candidate;
            }
        }
        return null;
    }

    private void finishKernel() {
        SimulatedGpuClient client = running;
        double[] work = windows.get(client.id);
        work[(int) Math.min(work.length - 1, nowNs / WINDOW_NS)] += runningNs;
        client.worked(runningNs, nowNs);
        running = null;
        kernelEndNs = Long.MAX_VALUE;
        if (client.idle()) {
            if (client.closing) {
                answerClosed(client);
            } else {
                watchIdle(client);
            }
        }
        startKernel();
    }

    private void sample() {
        nextSampleNs += SAMPLE_EVERY_NS;
        for (SimulatedGpuClient client : clients) {
            if (client.terms.sample()) {
                client.samples++;
                client.busySamples += client.idle() ? 0 : 1;
            }
        }
    }

    // Clients

    private void launch(SimulatedGpuClient client) {
        if (client.launch(nowNs)) {
            client.lastWorkNs = nowNs;
        } else if (client.host == SimulatedGpuClient.Host.AT_GATE && !client.wanting) {
            client.wanting = true;
            long sinceNs = Math.max(1, nowNs);
            at(nowNs + MESSAGE_NS, () -> scheduler.wants(client.id, sinceNs, nowNs));
        }
    }

    private void receive(SimulatedGpuClient client, long epoch, TurnState state, TurnTerms terms) {
        client.epoch = epoch;
        client.turn = state;
        client.terms = terms;
        if (state == TurnState.CLOSED) {
            client.gateOpen = false;
            client.closing = true;
            if (client.idle()) {
                answerClosed(client);
            }
            return;
        }
        client.closing = false;
        client.gateOpen = true;
        if (client.wanting) {
            client.wanting = false;
            at(nowNs + MESSAGE_NS, () -> scheduler.wants(client.id, 0, nowNs));
        }
        answer(client, epoch, AckState.OPEN, MESSAGE_NS);
        if (client.host == SimulatedGpuClient.Host.AT_GATE) {
            client.wake(nowNs);
        }
        client.lastWorkNs = nowNs;
        watchIdle(client);
    }

    private void answerClosed(SimulatedGpuClient client) {
        client.closing = false;
        long epoch = client.epoch;
        at(nowNs + DRAIN_NS, () -> {
            if (client.epoch == epoch) {
                acknowledgedClosed.put(client.id, true);
                scheduler.acknowledged(client.id, epoch, AckState.CLOSED, nowNs);
            }
        });
    }

    private void answer(SimulatedGpuClient client, long epoch, AckState state, long delayNs) {
        at(nowNs + delayNs, () -> scheduler.acknowledged(client.id, epoch, state, nowNs));
    }

    /** Gives a contended turn back after the time in the terms without a launch or a running kernel. */
    private void watchIdle(SimulatedGpuClient client) {
        if (client.turn != TurnState.GRANTED || client.terms.idleReleaseNs() == 0) {
            return;
        }
        long epoch = client.epoch;
        long seenNs = client.lastWorkNs;
        at(Math.max(nowNs, seenNs + client.terms.idleReleaseNs()), () -> {
            boolean unchanged = client.epoch == epoch && client.lastWorkNs == seenNs && client.idle();
            if (unchanged && client.gateOpen && client.terms.contended()) {
                client.gateOpen = false;
                at(nowNs + DRAIN_NS, () -> {
                    if (client.epoch == epoch) {
                        acknowledgedClosed.put(client.id, true);
                    }
                    scheduler.acknowledged(client.id, epoch, AckState.RELEASED, nowNs);
                });
            }
        });
    }

    // The port

    @Override
    public void order(long clientId, long epoch, TurnState state, TurnTerms terms) {
        SimulatedGpuClient client = client(clientId);
        if (state == TurnState.GRANTED) {
            for (SimulatedGpuClient other : clients) {
                if (other != client && !acknowledgedClosed.get(other.id)) {
                    throw new AssertionError("client " + clientId + " granted beside " + other.id);
                }
            }
        }
        noteTransition(state);
        if (state != TurnState.CLOSED) {
            acknowledgedClosed.put(clientId, false);
        }
        at(nowNs + MESSAGE_NS, () -> receive(client, epoch, state, terms));
    }

    private void noteTransition(TurnState state) {
        switch (state) {
            case CLOSED -> closedSinceNs = Math.min(closedSinceNs, nowNs);
            case GRANTED -> {
                if (!takingTurns) {
                    transitions.add(new Transition(Math.min(nowNs, closedSinceNs), nowNs, true));
                }
                takingTurns = true;
            }
            case FREE -> {
                if (takingTurns) {
                    transitions.add(new Transition(nowNs, nowNs, false));
                }
                takingTurns = false;
                closedSinceNs = Long.MAX_VALUE;
            }
        }
    }

    @Override
    public void amend(long clientId, TurnTerms terms) {
        SimulatedGpuClient client = client(clientId);
        long epoch = client.epoch;
        at(nowNs + MESSAGE_NS, () -> {
            if (client.epoch >= epoch) {
                client.terms = terms;
                if (client.host == SimulatedGpuClient.Host.PACED) {
                    client.wake(nowNs);
                }
                if (client.idle()) {
                    watchIdle(client);
                }
            }
        });
    }

    @Override
    public ClientLoad load(long clientId) {
        SimulatedGpuClient client = client(clientId);
        return new ClientLoad(client.submissions, client.busySamples, client.samples, client.usedBytes, 0);
    }

    @Override
    public void reportUndrained(long clientId, long sinceRevokedNs) {
        throw new AssertionError("client " + clientId + " reported as not draining");
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
        throw new AssertionError("client " + clientId + " ended");
    }
}
