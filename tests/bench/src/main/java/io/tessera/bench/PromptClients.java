package io.tessera.bench;

import io.tessera.manager.schedule.DeviceScheduling;
import io.tessera.manager.schedule.turn.AckState;
import io.tessera.manager.schedule.turn.ClientLoad;
import io.tessera.manager.schedule.turn.TurnPort;
import io.tessera.manager.schedule.turn.TurnState;
import io.tessera.manager.schedule.turn.TurnTerms;
import java.util.ArrayDeque;

/**
 * Clients that always have work and answer every order before the next duty cycle: the scheduler's highest ordinary load. Client ids are 1
 * to the number of clients. One thread.
 */
final class PromptClients implements TurnPort {
    /** Submissions of a client that runs, per millisecond: about as many as a training program makes. */
    private static final long SUBMISSIONS_PER_MS = 25;

    private final ArrayDeque<Order> orders = new ArrayDeque<>();
    private final boolean[] running;
    private final long[] submissions;
    private final long[] samples;

    PromptClients(int count) {
        running = new boolean[count + 1];
        submissions = new long[count + 1];
        samples = new long[count + 1];
    }

    private record Order(long clientId, long epoch, TurnState state) {
    }

    @Override
    public void order(long clientId, long epoch, TurnState state, TurnTerms terms) {
        orders.add(new Order(clientId, epoch, state));
    }

    @Override
    public void amend(long clientId, TurnTerms terms) {
        // Terms have no effect on a client that is never idle.
    }

    @Override
    public ClientLoad load(long clientId) {
        int index = (int) clientId;
        return new ClientLoad(submissions[index], samples[index], samples[index], 1L << 30, 0);
    }

    @Override
    public void reportUndrained(long clientId, long sinceRevokedNs) {
        throw new IllegalStateException("client " + clientId + " answers at once and is reported as undrained");
    }

    @Override
    public boolean isStopped(long clientId) {
        return false;
    }

    @Override
    public void reportStopped(long clientId) {
        throw new IllegalStateException("client " + clientId + " is never stopped");
    }

    @Override
    public void end(long clientId) {
        throw new IllegalStateException("client " + clientId + " answers at once and is to be ended");
    }

    /** A millisecond of work of the running clients. */
    void workOneMs() {
        for (int client = 1; client < running.length; client++) {
            if (running[client]) {
                submissions[client] += SUBMISSIONS_PER_MS;
                samples[client]++;
            }
        }
    }

    /** Answers all orders given so far, and those that the answers lead to; returns how many. */
    int answer(DeviceScheduling scheduler, long nowNs) {
        int answered = 0;
        for (Order order = orders.poll(); order != null; order = orders.poll()) {
            boolean open = order.state() != TurnState.CLOSED;
            running[(int) order.clientId()] = open;
            scheduler.wants(order.clientId(), open ? 0 : nowNs, nowNs);
            scheduler.acknowledged(order.clientId(), order.epoch(), open ? AckState.OPEN : AckState.CLOSED, nowNs);
            answered++;
        }
        return answered;
    }
}
