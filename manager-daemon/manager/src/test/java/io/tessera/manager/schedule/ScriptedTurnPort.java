package io.tessera.manager.schedule;

import io.tessera.manager.schedule.turn.ClientLoad;
import io.tessera.manager.schedule.turn.TurnPort;
import io.tessera.manager.schedule.turn.TurnState;
import io.tessera.manager.schedule.turn.TurnTerms;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Records the scheduler's orders and answers loads from a script. */
public final class ScriptedTurnPort implements TurnPort {
    record Order(long clientId, long epoch, TurnState state) {
    }

    final List<Order> orders = new ArrayList<>();
    final Map<Long, TurnTerms> terms = new HashMap<>();
    public final Map<Long, ClientLoad> loads = new HashMap<>();
    final List<Long> undrained = new ArrayList<>();
    final List<Long> ended = new ArrayList<>();
    final Set<Long> stopped = new HashSet<>();
    final List<Long> passedOver = new ArrayList<>();
    int amendments;

    @Override
    public void order(long clientId, long epoch, TurnState state, TurnTerms newTerms) {
        orders.add(new Order(clientId, epoch, state));
        terms.put(clientId, newTerms);
    }

    @Override
    public void amend(long clientId, TurnTerms newTerms) {
        terms.put(clientId, newTerms);
        amendments++;
    }

    @Override
    public ClientLoad load(long clientId) {
        return loads.getOrDefault(clientId, new ClientLoad(0, 0, 0, 0, 0));
    }

    @Override
    public void reportUndrained(long clientId, long sinceRevokedNs) {
        undrained.add(clientId);
    }

    @Override
    public boolean isStopped(long clientId) {
        return stopped.contains(clientId);
    }

    @Override
    public void reportStopped(long clientId) {
        passedOver.add(clientId);
    }

    @Override
    public void end(long clientId) {
        ended.add(clientId);
    }

    /** Returns the orders since the last call, in the short form "1 GRANTED@2". */
    List<String> take() {
        List<String> texts = orders.stream()
                .map(order -> order.clientId() + " " + order.state() + "@" + order.epoch()).toList();
        orders.clear();
        return texts;
    }
}
